// When a CA says that a certificate is to be renewed, asked over https.
import { expect, test } from 'vitest'
import { askRenewal } from '#integrations/acme/ask-renewal.ts'
import { problem, standInAcme } from '#test/support/acme-stand-in.ts'
import type { Said } from '#test/support/acme-stand-in.ts'
import { certificateOfRfc } from '#test/support/certificates.ts'

const path = '/renewals/aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE'
const suggestedWindow = { start: '2026-12-30T00:00:00Z', end: '2027-01-02T00:00:00Z' }
const [startMs, endMs] = [Date.UTC(2026, 11, 30), Date.UTC(2027, 0, 2)]

async function ask(said: Said | 'hang', more: { chain?: string; has?: boolean; aheadMs?: number }) {
  const { chain = certificateOfRfc, has = true, aheadMs = 0 } = more
  const nowMs = (): number => Math.floor(Date.now() / 1_000) * 1_000
  const date = new Date(nowMs()).toUTCString()
  const { base, ca } = await standInAcme((asked, at) => {
    const directory = has ? { renewalInfo: `${at}/renewals` } : {}
    if (asked === '/dir') return { status: 200, body: directory, headers: { date } }
    return asked === path && said !== 'hang'
      ? { ...said, headers: { date, ...said.headers } }
      : { status: 418 }
  })
  const { signal } = new AbortController()
  const clock = { nowMs: () => Date.parse(date) + aheadMs }
  return await askRenewal({ directory: `${base}/dir`, chain, ca, signal, ...clock })
}

test('a window is that of the certificate, with the time of the next question', async () => {
  const explanationURL = 'https://ca.test/incident'
  const body = { suggestedWindow, explanationURL }
  const headers = { 'retry-after': '21600' }
  expect(await ask({ status: 200, body, headers }, {})).toEqual({
    ok: true,
    value: { window: { startMs, endMs, why: explanationURL }, retryAfterMs: 21_600_000 },
  })
})

test('a window is in the time of the clock that asks', async () => {
  const aheadMs = 3 * 86_400_000
  expect(await ask({ status: 200, body: { suggestedWindow } }, { aheadMs })).toMatchObject({
    value: { window: { startMs: startMs + aheadMs, endMs: endMs + aheadMs, why: null } },
  })
})

test.each([
  ['a CA that knows of no renewals', { has: false }],
  ['a certificate that cannot be read', { chain: 'none' }],
])('%s says none', async (_what, more) => {
  const nothing = { ok: true, value: { window: null, retryAfterMs: null } }
  expect(await ask({ status: 200, body: { suggestedWindow } }, more)).toEqual(nothing)
})

test.each<[string, Said, object]>([
  ['no window', { status: 200, body: {} }, { code: 'away' }],
  ['a fault', problem('malformed', 400), { code: 'malformed', message: 'said malformed' }],
  ['a page that is not there', { status: 404, body: {} }, { code: 'away' }],
  [
    'a limit of rates',
    problem('rateLimited', 429, { 'retry-after': '7200' }),
    { code: 'rateLimited', retryAfterMs: 7_200_000 },
  ],
])('%s is a fault', async (_what, said, error) => {
  expect(await ask(said, {})).toMatchObject({ ok: false, error })
})
