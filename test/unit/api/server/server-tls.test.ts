// The API over TLS: with a certificate that comes later, and one that follows it.
import { readFileSync } from 'node:fs'
import { get } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createSecureContext } from 'node:tls'
import { createApp } from '#api/server/app.ts'
import type { ServerTls } from '#api/server/server-tls.ts'
import { devMode, portsOf } from '#test/support/api-ports.ts'
import { rawHttp } from '#test/support/raw-http.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'

interface Pair {
  readonly cert: string
  readonly key: string
}

function pairOf(name: string): Pair {
  const { certFile, keyFile } = makeTlsFiles(tempDir('api-tls'), name)
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
}

async function listening(first?: Pair, byName?: ServerTls['byName']) {
  let pair = first
  let tell = (): void => undefined
  const tls = { byName, pair: () => pair, onChange: (handler: () => void) => void (tell = handler) }
  const app = createApp(portsOf({ auth: devMode }), [], tls)
  await app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => app.close())
  const { port } = app.server.address() as AddressInfo
  const take = (next: Pair): void => {
    pair = next
    tell()
  }
  /** @returns the status, or why there is none */
  const ask = (name: string, ca: string): Promise<number | string> =>
    new Promise((resolve) => {
      const place = { host: '127.0.0.1', port, path: '/api/v1/health', agent: false }
      const sent = get({ ...place, servername: name, ca }, (response) => {
        void text(response).then(() => resolve(response.statusCode ?? 0))
      })
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'failed'))
    })
  return { port, take, ask }
}

test('its certificate is taken over for connections that begin then', async () => {
  const [one, two] = [pairOf('one.example'), pairOf('two.example')]
  const { ask, take } = await listening(one)
  expect(await ask('one.example', one.cert)).toBe(200)
  take(two)
  expect(await ask('two.example', two.cert)).toBe(200)
  expect(await ask('one.example', one.cert)).not.toBe(200)
})

test('a client is shown the certificate of the name that it asks for', async () => {
  const [one, two] = [pairOf('one.example'), pairOf('two.example')]
  const other = createSecureContext({ cert: two.cert, key: two.key })
  const { ask } = await listening(one, (name, done) => {
    done(null, name === 'two.example' ? other : undefined)
  })
  expect(await ask('one.example', one.cert)).toBe(200)
  expect(await ask('two.example', two.cert)).toBe(200)
})

test('before the first one no handshake comes to its end', async () => {
  const one = pairOf('one.example')
  const { ask, take } = await listening()
  expect(typeof (await ask('one.example', one.cert))).toBe('string')
  take(one)
  expect(await ask('one.example', one.cert)).toBe(200)
})

test('a client without TLS gets no answer of the API', async () => {
  const { port } = await listening(pairOf('one.example'))
  const { text: said } = await rawHttp(port, ['GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n'])
  expect(said).not.toContain('200')
})
