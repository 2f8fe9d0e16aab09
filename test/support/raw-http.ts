// Sends octets to a port of this machine and returns the response, until the other side closes.
import { connect } from 'node:net'
import type { Socket } from 'node:net'

interface RawAnswer {
  readonly text: string
  /** Status lines, in their order. */
  readonly statuses: readonly number[]
}

/** @param parts sent one after the other, each as soon as the previous one was sent */
export function rawHttp(
  port: number,
  parts: readonly string[],
  host = '127.0.0.1',
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, host)
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status))
      resolve({ text, statuses })
    })
    for (const part of parts) socket.write(part, 'latin1')
  })
}

/** An open connection that sends nothing. */
export function openSocket(port: number, host = '127.0.0.1'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => resolve(socket))
    socket.on('error', reject)
  })
}
