// `gslbd query-log print`: lines and JSON of a file, and what it says of one that it cannot read.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DnstapEncoder } from '#answer/query-log/dnstap.ts'
import { ControlType, controlFrame, frameHead } from '#answer/query-log/frame-stream.ts'
import type { LoggedQuery } from '#answer/query-log/logged-queries.ts'
import { query } from '#test/support/dns/message.ts'
import { ecs } from '#test/support/dns/ecs.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const encoder = new DnstapEncoder({ node: 'n1', version: 'gslbd', truncateClients: false })
const chosen: LoggedQuery = {
  ...{ askedMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678), answeredMs: 0, protocol: 'udp' },
  ...{ client: Uint8Array.of(192, 0, 2, 53), clientPort: 5_353, extendedError: -1, seed: 9 },
  query: query('www.example.com. A', { opt: { options: [ecs(1, 24, 0, 'cb0071')] } }),
  ...{ reply: query('www.example.com. A', { qr: true, aa: true }), replyBytes: 33 },
  ...{ digest: 'd'.repeat(64), commit: '0123456789abcdef'.repeat(2) },
  choice: {
    ...{ tenant: 'default', service: 'www', pool: 'web', reason: 'round-robin', turn: 3 },
    ...{ isFallback: true, chosen: 1, members: ['fra1'] },
  },
}
const unanswered: LoggedQuery = {
  ...{ ...chosen, query: query('other.test. AAAA'), protocol: 'dot' },
  ...{ reply: undefined, replyBytes: 0, choice: null },
}

function fileOf(records: readonly LoggedQuery[], end = controlFrame(ControlType.Stop)): string {
  const path = join(tempDir('query-log'), 'log')
  const frames = records.flatMap((record) => {
    const octets = Buffer.from(encoder.encode(record))
    return [frameHead(octets.length), octets]
  })
  writeFileSync(path, Buffer.concat([controlFrame(ControlType.Start), ...frames, end]))
  return path
}

test('a record is a line', async () => {
  const path = fileOf([chosen, unanswered])
  expect(await runCli('query-log', 'print', path)).toEqual({
    exit: 0,
    out:
      '2026-01-02T03:04:05.678Z udp 192.0.2.53 for 203.0.113.0/24 www.example.com. A NOERROR ' +
      'fra1, pool web in place of its own, round-robin, commit 0123456789ab\n' +
      '2026-01-02T03:04:05.678Z dot 192.0.2.53 other.test. AAAA - no-reply, commit 0123456789ab\n',
    err: '',
  })
})

test('--json says all that is known, --name takes those of a name alone', async () => {
  const path = fileOf([chosen, unanswered])
  const { out } = await runCli('query-log', 'print', '--json', '--name', 'WWW.example.com', path)
  expect(JSON.parse(out)).toEqual({
    ...{ at: '2026-01-02T03:04:05.678Z', kind: 'response', protocol: 'udp' },
    ...{ client: '192.0.2.53', clientPort: 5_353, subnet: '203.0.113.0/24' },
    ...{ name: 'www.example.com.', type: 'A', rcode: 'NOERROR' },
    ...{ tenant: 'default', service: 'www', member: 'fra1', pool: 'web', fallback: true },
    ...{ reason: 'round-robin', turn: 3, seed: 9, node: 'n1' },
    ...{ commit: chosen.commit, digest: chosen.digest },
    query: Buffer.from(chosen.query).toString('base64'),
    reply: Buffer.from(chosen.reply!).toString('base64'),
  })
})

test('records before a fault are printed, and the fault has its place', async () => {
  const cut = fileOf([chosen], Buffer.from('0000', 'hex'))
  const { exit, out, err } = await runCli('query-log', 'print', cut)
  expect([exit, out.split('\n').length]).toEqual([1, 2])
  expect(err).toBe(`gslbd query-log: ${cut}: the file is cut short behind record 1\n`)
})

test.each([
  [['print', '/nowhere/log'], 1, '/nowhere/log: there is no such file'],
  [['print', '/'], 1, '/: this is a directory; name a file in it'],
  [['print'], 2, 'name a file'],
  [['show', 'x'], 2, 'write: gslbd query-log print FILE'],
] as const)('%j ends with %i', async (args, exit, sentence) => {
  const run = await runCli('query-log', ...args)
  expect(run.exit).toBe(exit)
  expect(run.err).toContain(sentence)
})
