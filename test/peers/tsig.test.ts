// TSIG as other programs send and check it: dig and nsupdate of BIND, kdig and knsupdate of Knot.
import { afterEach, describe, expect, test } from 'vitest'
import { tsigAlgorithm, tsigAlgorithms } from '#dns/tsig/tsig-algorithms.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { startTsigServer } from '#test/support/dns/tsig-server.ts'
import type { TsigServer, TsigServerParts } from '#test/support/dns/tsig-server.ts'
import { saidBy } from '#test/support/said-by.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const secret = Buffer.from('0123456789abcdefghijklmnopqrstuv')
const nowSeconds = (): number => Math.floor(Date.now() / 1_000)

let server: TsigServer | undefined
afterEach(() => server?.close())

function keyOf(algorithm: string): TsigKey {
  return { name: wireName('key.example.'), algorithm: tsigAlgorithm(algorithm)!, secret }
}

async function start(algorithm: string, parts: Partial<TsigServerParts> = {}): Promise<number> {
  const key = keyOf(algorithm)
  const find = (name: Uint8Array): TsigKey | undefined =>
    Buffer.from(name).equals(Buffer.from(key.name)) ? key : undefined
  server = await startTsigServer({ find, now: nowSeconds, signEvery: 1, ...parts })
  return server.port
}

/** What it printed, on both outputs. */
const run = async (program: string, args: readonly string[], input?: string): Promise<string> =>
  (await saidBy(program, args, input === undefined ? {} : { input })).text

/** What a program says of an answer whose MAC it does not believe. */
const disbelief = /could not be validated|failed to verify|verify failure|TSIG error|BADSIG/i
const keyOption = (algorithm: string, name = 'Key.Example', key = secret): string =>
  `${algorithm.slice(0, -1)}:${name}:${key.toString('base64')}`

describe.each(['dig', 'kdig'])('%s', (program) => {
  const ask = (port: number, key: string, ...rest: readonly string[]): Promise<string> =>
    run(program, ['@127.0.0.1', '-p', `${port}`, '-y', key, 'example.com', ...rest])

  test.each(tsigAlgorithms.map(({ name }) => [name]))('believes answers of %s', async (name) => {
    const text = await ask(await start(name), keyOption(name), 'SOA')
    expect(text).toMatch(/status: NOERROR/)
    expect(text).not.toMatch(disbelief)
    expect(server?.checks).toEqual(['signed'])
  })

  test.each([1, 3, 100])('believes a transfer with every message %i signed', async (signEvery) => {
    const port = await start('hmac-sha256.', { signEvery })
    const text = await ask(port, keyOption('hmac-sha256.'), 'AXFR')
    expect(text.match(/\sTXT\s+"x"/g)).toHaveLength(250)
    expect(text).not.toMatch(disbelief)
  })

  test('sees through a server that does not know the secret', async () => {
    const other = { ...keyOf('hmac-sha256.'), secret: Buffer.alloc(32) }
    const port = await start('hmac-sha256.', { find: () => other })
    expect(await ask(port, keyOption('hmac-sha256.'), 'SOA')).toMatch(/BADSIG|NOTAUTH/)
  })

  test('is told of a key that is not known', async () => {
    const port = await start('hmac-sha256.')
    expect(await ask(port, keyOption('hmac-sha256.', 'other.example'), 'SOA')).toMatch(/BADKEY/)
    expect(server?.checks).toEqual(['unproven'])
  })

  test('is told of a clock that is an hour off, with the time of the server', async () => {
    const port = await start('hmac-sha256.', { now: () => nowSeconds() + 3_600 })
    expect(await ask(port, keyOption('hmac-sha256.'), 'SOA')).toMatch(/BADTIME/)
    expect(server?.checks).toEqual(['refused'])
  })
})

describe.each(['nsupdate', 'knsupdate'])('%s', (program) => {
  const update = (port: number, tcp: readonly string[]): Promise<string> => {
    const lines = [
      ...['server 127.0.0.1 ' + port, 'zone example.com.'],
      `key hmac-sha256:key.example ${secret.toString('base64')}`,
      ...['update add _acme-challenge.example.com. 60 TXT "x"', 'send', 'answer', ''],
    ]
    return run(program, tcp, lines.join('\n'))
  }

  test.each([
    ['UDP', []],
    ['TCP', ['-v']],
  ])('believes the answer to an update over %s', async (_transport, option) => {
    const text = await update(await start('hmac-sha256.'), option)
    expect(text).toMatch(/NOERROR/)
    expect(text).not.toMatch(disbelief)
    expect(server?.checks).toContain('signed')
  })

  test('is told that its key is not known', async () => {
    const port = await start('hmac-sha256.', { find: () => undefined })
    expect(await update(port, [])).toMatch(/BADKEY|NOTAUTH/)
  })
})
