// An order against a CA that says no: a stand-in speaks https, and so much of RFC 8555 as it takes.
import { readFileSync } from 'node:fs'
import { test, expect } from 'vitest'
import { orderCertificate } from '#integrations/acme/order-certificate.ts'
import { newPrivateKey } from '#integrations/acme/private-key.ts'
import { err, ok } from '#lib/result.ts'
import { problem, standInAcme } from '#test/support/acme-stand-in.ts'
import type { Answer, Said } from '#test/support/acme-stand-in.ts'
import { certificateOfRfc } from '#test/support/certificates.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'

const common: Answer = (path, base) => {
  const urls = ['newNonce', 'newAccount', 'newOrder'].map((name) => [name, `${base}/${name}`])
  if (path === '/dir') return { status: 200, body: Object.fromEntries(urls) as object }
  if (path === '/newNonce') return { status: 200 }
  if (path === '/newAccount') return { status: 201, body: { status: 'valid' } }
  return { status: 404 }
}

async function order(
  answer: Answer,
  more: { ca?: string; signal?: AbortSignal; replaces?: string } = {},
) {
  const { base, ca, mostOpen } = await standInAcme((path, base, request) => {
    const said = answer(path, base, request)
    return said !== 'hang' && said.status === 0 ? common(path, base, request) : said
  })
  const directory = `${base}/dir`
  let withdrawn = 0
  const solver = {
    typeFor: () => ok('dns-01' as const),
    publish: async () => err('the proof cannot be published'),
    withdraw: async () => void withdrawn++,
  }
  const { result, clockOffsetMs } = await orderCertificate({
    ...{ directory, names: ['a.example.com', 'b.example.com'], contact: ['x@example.com'] },
    ...{ account: { directory, key: newPrivateKey() }, agreesToTerms: true },
    ...{ ca: more.ca ?? ca, solver, externalAccount: undefined, replaces: more.replaces },
    ...{ signal: more.signal ?? new AbortController().signal, nowMs: Date.now },
  })
  expect(withdrawn).toBe(1)
  return { fault: result.ok ? 'none' : result.error, clockOffsetMs, mostOpen: mostOpen() }
}

const rest: Said = { status: 0 }

test('a limit of rates is told with the time that the CA says, and obeyed', async () => {
  let asked = 0
  const { fault } = await order((path) => {
    if (path !== '/newOrder') return rest
    asked++
    return problem('rateLimited', 429, { 'retry-after': '7200' })
  })
  expect(fault).toEqual({
    code: 'rateLimited',
    message: 'said rateLimited',
    retryAfterMs: 7_200_000,
  })
  expect(asked).toBe(1)
})

test('a time to come back may be a date', async () => {
  const { fault } = await order(() =>
    problem('serverInternal', 503, {
      'retry-after': new Date(Date.now() + 3_600_000).toUTCString(),
    }),
  )
  expect(fault).toMatchObject({ code: 'serverInternal' })
  const { retryAfterMs } = fault as { retryAfterMs: number }
  expect(Math.abs(retryAfterMs - 3_600_000)).toBeLessThan(5_000)
})

test.each<[string, Answer, object]>([
  [
    'a name that the CA does not sign',
    (path) => (path === '/newOrder' ? problem('rejectedIdentifier', 403) : rest),
    { code: 'rejectedIdentifier', message: 'said rejectedIdentifier' },
  ],
  [
    'a CA that takes its customers alone',
    (path) => (path === '/newAccount' ? problem('externalAccountRequired', 400) : rest),
    {
      code: 'externalAccountRequired',
      message: expect.stringContaining('write acme.eab') as string,
    },
  ],
  ['a server error', () => ({ status: 502, body: {} }), { code: 'away' }],
  ['something that is no ACME server', () => ({ status: 200, body: {} }), { code: 'away' }],
  ['a page that is not there', () => ({ status: 404, body: {} }), { code: 'away' }],
  [
    'a proof that cannot be published',
    (path, base) =>
      path === '/newOrder'
        ? { status: 201, body: { status: 'pending', authorizations: [`${base}/authz`] } }
        : path === '/authz'
          ? {
              status: 200,
              body: {
                ...{ status: 'pending', identifier: { type: 'dns', value: 'a.example.com' } },
                challenges: [{ type: 'dns-01', token: 'abc', url: `${base}/c`, status: 'pending' }],
              },
            }
          : rest,
    { code: 'challenge', message: 'the proof cannot be published' },
  ],
])('%s is a fault with its word', async (_what, answer, fault) => {
  expect((await order(answer)).fault).toMatchObject(fault)
})

test('requests come one after the other, however many names there are', async () => {
  const { mostOpen } = await order((path, base) =>
    path === '/newOrder'
      ? {
          status: 201,
          body: { authorizations: Array.from({ length: 20 }, (_, i) => `${base}/authz${i}`) },
        }
      : rest,
  )
  expect(mostOpen).toBe(1)
})

test('a CA whose certificate is of no known authority is not asked', async () => {
  const other = readFileSync(makeTlsFiles(tempDir('other-ca'), 'other').certFile, 'utf8')
  const { fault } = await order(() => rest, { ca: other })
  expect(fault).toMatchObject({
    code: 'away',
    message: expect.stringMatching(/cannot be asked: (DEPTH|UNABLE|SELF)/) as string,
  })
})

test('a CA that does not answer is left when the node stops', async () => {
  const ending = new AbortController()
  setTimeout(() => ending.abort(), 50)
  const { fault } = await order(() => 'hang', { signal: ending.signal })
  expect(fault).toMatchObject({ code: 'away' })
})

test('a CA is told what is replaced, and asked without it where it refuses that', async () => {
  const sent: unknown[] = []
  const { fault } = await order(
    (path, _base, { payload }) => {
      if (path !== '/newOrder') return rest
      sent.push(payload)
      return sent.length === 1 ? problem('alreadyReplaced', 409) : problem('rateLimited', 429)
    },
    { replaces: certificateOfRfc },
  )
  expect(fault).toMatchObject({ code: 'rateLimited' })
  expect(sent).toMatchObject([{ replaces: 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE' }, {}])
  expect(sent[1]).not.toHaveProperty('replaces')
})

test('the time of the CA is compared with the own one', async () => {
  const date = new Date(Date.now() - 86_400_000).toUTCString()
  const { clockOffsetMs } = await order(() => ({ status: 500, headers: { date } }))
  expect(Math.abs(clockOffsetMs! - 86_400_000)).toBeLessThan(5_000)
})
