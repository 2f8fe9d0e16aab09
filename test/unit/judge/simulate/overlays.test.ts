// gslbd simulate --at: what rollouts and windows make of the answer.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { main } from '#cli/main.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { encode } from '../../../support/bundle-models.ts'
import { maintenance, modelWith, rollout } from '../../../support/overlay-node.ts'
import { tempDir } from '../../../support/temp-dir.ts'

async function simulated(model: BundleModel, ...args: string[]): Promise<string> {
  const path = join(tempDir('overlays'), 'a.bundle')
  writeFileSync(path, encode(model).bytes)
  let out = ''
  const io = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (out += text),
    env: {},
    isTerminal: false,
  }
  await main(['simulate', 'www.test.', '--bundle', path, '--count', '0', ...args], io)
  return out
}

const both = modelWith({ rollouts: [rollout()], windows: [maintenance({ member: 1 })] })

test.each([
  [
    '2027-01-31T11:59:59Z',
    `rollout   ramp is pending: 192.0.2.1 keeps its weight 40, until 2027-01-31T12:00:00Z
window    night is scheduled: 192.0.2.2 is not held out, until 2027-01-31T12:00:00Z`,
    '192.0.2.1            weight 40, no priority\n',
  ],
  [
    '2027-01-31T12:01:00Z',
    'rollout   ramp is running: step 2 of 3, 192.0.2.1 weighs 20 (declared 40), ' +
      `until 2027-01-31T12:03:00Z
window    night is active: 192.0.2.2 is out, until 2027-01-31T13:00:00Z`,
    '192.0.2.2            weight 40, no priority, out: maintenance window\n',
  ],
  [
    '2027-01-31T13:00:00Z',
    `rollout   ramp is promoted: step 3 of 3, 192.0.2.1 weighs 40 (as declared)
window    night is completed: 192.0.2.2 is not held out`,
    '192.0.2.2            weight 40, no priority\n',
  ],
])('at %s the heading says which overlay does what', async (at, heading, memberLine) => {
  const out = await simulated(both, '--at', at)
  expect(out).toContain(`at        ${at.replace('Z', '.000Z')}\n${heading}\n`)
  expect(out).toContain(memberLine)
})

test('without --at it is now', async () => {
  const started = Date.now()
  const out = await simulated(both)
  const shown = /^at {8}(\S+) \(now\)$/m.exec(out)
  expect(Date.parse(shown![1]!)).toBeGreaterThanOrEqual(started)
})

test('overlays of other pools are not shown', async () => {
  const [first] = modelWith({}).pools
  const other = { ...first!, uid: rollout().uid, name: 'other', members: [] }
  const windows = [maintenance({ pool: 1, member: -1 })]
  const out = await simulated({ ...modelWith({ windows }), pools: [first!, other] })
  expect(out).not.toContain('window  ')
})

test('programs get the same', async () => {
  const out = await simulated(both, '--at', '2027-01-31T12:00:00Z', '--format', 'json')
  const { overlays } = JSON.parse(out) as { overlays: object[] }
  expect(overlays).toMatchObject([
    { kind: 'Rollout', name: 'ramp', pool: 'pool-1', state: 'running' },
    { kind: 'MaintenanceWindow', name: 'night', tenant: 'default', state: 'active' },
  ])
})

test('a dump names the members', async () => {
  const path = join(tempDir('overlays'), 'a.bundle')
  writeFileSync(path, encode(both).bytes)
  let out = ''
  const io = {
    out: (text: string) => void (out += text),
    err: () => undefined,
    env: {},
    isTerminal: false,
  }
  await main(['bundle', 'dump', path], io)
  expect(JSON.parse(out)).toMatchObject({
    rollouts: [{ name: 'ramp', pool: 'pool-1', member: '192.0.2.1', baseWeight: 40 }],
    windows: [{ name: 'night', pool: 'pool-1', member: '192.0.2.2' }],
  })
})
