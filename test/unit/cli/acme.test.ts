import { expect, test } from 'vitest'
import { runCli } from '#test/support/run-cli.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'

const certificate = {
  ...{ names: ['ns1.example.com'], notBefore: 1_790_000_000 },
  ...{ notAfter: 1_797_776_000, renewAt: 1_795_184_000 },
}
const well = {
  ...{ directory: 'https://ca.test/dir', names: ['ns1.example.com', '*.example.com'], certificate },
  ...{ isOrdering: false, failure: null, clockOffsetSeconds: 2, fault: null },
}
const failure = { code: 'rateLimited', message: 'too many', count: 3, at: 1_795_200_000 }

test.each<[string, object[], number, string]>([
  [
    'no certificate, and what to write',
    [],
    0,
    'No certificate is asked for: acme.names is empty. To have one, write this\n' +
      'into the settings of all control nodes, with your names, and start them again:\n\n' +
      '  acme: { names: [ns1.example.com], agreeToTerms: true }\n\n' +
      'docs/operations/certificates.md says what else it needs, and who uses it.\n',
  ],
  [
    'one that is well',
    [well],
    0,
    'ns1.example.com, *.example.com\n' +
      '  from https://ca.test/dir\n' +
      '  serves until 2026-12-20T14:13:20.000Z, is renewed from 2026-11-20T14:13:20.000Z on\n',
  ],
  [
    'one of an entry',
    [{ ...well, entry: 'inner', names: ['inner.example.com'] }],
    0,
    'inner: inner.example.com\n' +
      '  from https://ca.test/dir\n' +
      '  serves until 2026-12-20T14:13:20.000Z, is renewed from 2026-11-20T14:13:20.000Z on\n',
  ],
  [
    'one that is not renewed',
    [{ ...well, failure: { ...failure, next: 1_795_300_000 } }],
    1,
    'ns1.example.com, *.example.com\n' +
      '  from https://ca.test/dir\n' +
      '  serves until 2026-12-20T14:13:20.000Z, is renewed from 2026-11-20T14:13:20.000Z on\n' +
      '  the last try failed at 2026-11-20T18:40:00.000Z ' +
      '(rateLimited, 3 times in a row): too many\n' +
      '  tried again at 2026-11-21T22:26:40.000Z\n',
  ],
  [
    'a first one on its way, on a clock that is wrong',
    [{ ...well, certificate: null, isOrdering: true, clockOffsetSeconds: -86_400 }],
    1,
    'ns1.example.com, *.example.com\n' +
      '  from https://ca.test/dir\n' +
      '  there is none yet\n' +
      '  a node is getting another one now\n' +
      '  the clock of this node is 86400 s behind that of the server\n',
  ],
])('acme status says of %s what there is', async (_what, body, exit, text) => {
  const { url } = await startStandIn(() => ({ status: 200, body }))
  const ran = await runCli('acme', 'status', '--url', url)
  expect([ran.out, ran.exit]).toEqual([text, exit])
  const raw = await runCli('acme', 'status', '--url', url, '--json')
  expect(JSON.parse(raw.out)).toEqual(body)
})

test('a node that does not answer is said, and a wrong call as well', async () => {
  const { url } = await startStandIn(() => ({ status: 500, body: { error: 'no' } }))
  expect((await runCli('acme', 'status', '--url', url)).exit).toBe(1)
  expect((await runCli('acme', 'renew')).exit).toBe(2)
})
