// Defines the messages between a process and its successor: one JSON object a line, in this order.
import type { Socket } from 'node:net'
import { fieldsOf, parseJson } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

/** Raised when an older version could misunderstand a newer one. */
export const protocol = 1

/** The first line, sent by the successor. */
export interface Hello {
  readonly protocol: number
  readonly pid: number
  /** -1: the system has no users. */
  readonly uid: number
  /** The text of /proc/self/cgroup; '': unknown. */
  readonly cgroup: string
}

/** The answer, with descriptors of the sockets; or why there are none. */
export interface Offer {
  readonly pid: number
  readonly isServing: boolean
  /** In the order of the descriptors, `count` of them for each name. */
  readonly sockets: readonly { readonly name: string; readonly count: number }[]
  /** Environment by which the successor reaches the supervisor. */
  readonly variables: Readonly<Record<string, string>>
}

/**
 * Later lines: the successor sends `let-go`, then `running`; the answers are `gone` and `ending`.
 */
export type Step = 'let-go' | 'gone' | 'running' | 'ending'

const lineBytesMax = 16_384

export const lineOf = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`)

export function readHello(value: unknown): Result<Hello, string> {
  const { protocol: spoken, pid, uid, cgroup } = fieldsOf(value)
  if (spoken !== protocol) return err('the two versions do not understand each other: restart')
  const isWhole = isNumber(pid) && pid > 0 && isNumber(uid) && typeof cgroup === 'string'
  return isWhole ? ok({ protocol, pid, uid, cgroup }) : err('what was asked for is not understood')
}

export function readOffer(value: unknown): Result<Offer, string> {
  const { refused, pid, isServing, sockets, variables } = fieldsOf(value)
  if (typeof refused === 'string') return err(refused)
  const rows = Array.isArray(sockets) ? sockets.map(fieldsOf) : []
  const read = rows.flatMap(({ name, count }) =>
    typeof name === 'string' && isNumber(count) ? [{ name, count }] : [],
  )
  const isWhole = isNumber(pid) && pid > 0 && typeof isServing === 'boolean'
  if (!isWhole || read.length === 0 || read.length < rows.length) {
    return err('the answer of the process before is not understood')
  }
  const texts = Object.entries(fieldsOf(variables)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return ok({ pid, isServing, sockets: read, variables: Object.fromEntries(texts) })
}

export function stepOf(value: unknown): string {
  const { step } = fieldsOf(value)
  return typeof step === 'string' ? step : ''
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value)

/** Passes each line's value to `take`. A peer that sends no JSON, or too much, is disconnected. */
export function readLines(socket: Socket, take: (value: unknown) => void): void {
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = text.slice(0, end)
      text = text.slice(end + 1)
      const value = parseJson(line)
      if (value === undefined) socket.destroy()
      else take(value)
    }
    if (text.length > lineBytesMax) socket.destroy()
  })
}
