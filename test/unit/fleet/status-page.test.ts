// The page of a node that pulls: what it says, and that nothing in it can run.
import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { pagePolicy, statusPage } from '#fleet/status-page.ts'
import type { PageFacts } from '#fleet/status-page.ts'
import { reportOf } from '#test/support/node-reports.ts'

const facts: PageFacts = {
  report: reportOf('far-1', { startedAtMs: 0, issuedAtMs: 3_600_000 }),
  health: 'degraded',
  reasons: ['No bundle source is of use'],
  pull: {
    contactSecondsAgo: 90,
    sources: [
      { name: 'https://a/', fault: { code: 'unreachable', message: 'nobody listens' } },
      { name: 'https://b/', fault: null },
    ],
  },
  nowMs: 8_000_000,
}

test('says what serves, since when, from where, and what was refused', () => {
  const page = statusPage(facts)
  for (const part of [
    '<h1>far-1</h1>',
    'degraded. No bundle source is of use',
    'site=fra1',
    `seq 7, ${'d'.repeat(64)}`,
    '<th>Confirmed<td>73 min ago',
    '<th>Last contact<td>90 s ago',
    '<th>Up for<td>2 h',
    '<th>https://a/<td>nobody listens',
    'bad-bundle<td>it is damaged',
    '3 healthy, 1 down, 0 warming up',
  ]) {
    expect(page).toContain(part)
  }
})

test('shows what others wrote as text', () => {
  const [refusal] = facts.report.refusals
  const reason = `<script>alert("1")</script>&'`
  const report = { ...facts.report, refusals: [{ ...refusal!, reason, atMs: 2 ** 53 }] }
  const page = statusPage({ ...facts, report })
  expect(page).not.toContain('<script')
  expect(page).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;')
})

test('has one style, which its policy names, and no script', () => {
  const page = statusPage(facts)
  const [, style = ''] = /<style>([^<]*)<\/style>/.exec(page) ?? []
  expect(pagePolicy).toContain(`'sha256-${hash('sha256', style, 'base64')}'`)
  expect(pagePolicy).toContain("default-src 'none'")
  expect(page).not.toMatch(/<script|style=|javascript:| on[a-z]+=/i)
})

test('the page of a node without a bundle says so', () => {
  const report = reportOf('new', { digest: null, issuedAtMs: null, refusals: [], labels: {} })
  const page = statusPage({ ...facts, report, pull: { contactSecondsAgo: null, sources: [] } })
  for (const part of ['nothing yet', 'never', 'none since the start', '<p>Nothing.</p>']) {
    expect(page).toContain(part)
  }
})
