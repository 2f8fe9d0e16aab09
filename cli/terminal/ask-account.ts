// Asks for the first account: on a terminal, or in lines of a pipe.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { FirstAccount } from '#node/stores/first-account.ts'

/** Asks at a terminal without showing the password; reads lines of a pipe. */
export async function askOnTerminal(): Promise<FirstAccount> {
  let isHidden = false
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (!isHidden) process.stderr.write(chunk)
      done()
    },
  })
  const lines = createInterface({
    input: process.stdin,
    output,
    terminal: process.stdin.isTTY === true,
  })
  const next = lines[Symbol.asyncIterator]()
  const read = async (question: string): Promise<string> => {
    process.stderr.write(question)
    const line = await next.next()
    return line.value ?? ''
  }
  const email = (await read('E-mail: ')).trim()
  isHidden = true
  const password = await read('Password: ')
  process.stderr.write('\n')
  lines.close()
  return { email, password }
}
