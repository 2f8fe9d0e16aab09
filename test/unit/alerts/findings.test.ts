// What a node tells of where more is wrong than it may tell of.
import { expect, test } from 'vitest'
import { Findings } from '#alerts/cluster/findings.ts'
import { alertLimits, operatorId } from '#state/ports/alerts.ts'
import { healthyFacts } from '#test/support/alerts.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { FakeTime } from '#test/support/fake-time.ts'

test('a tenant with more than is told hides nothing of another one, nor of the operator', () => {
  const poolsOf = (tenant: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ name: `${i}`, uid: `${i}`, tenant, members: 1 }))
  const { findingsPerNodeMax } = alertLimits
  const pools = [...poolsOf('a', findingsPerNodeMax), ...poolsOf('zenith', 3)]
  const time = new FakeTime(1_000)
  const findings = new Findings({
    facts: {
      ...healthyFacts,
      emptyPools: () => pools,
      // Less severe than what tenants have.
      disk: () => ({ fault: '', freePercent: 4 }),
    },
    settings: { geoMaxAgeMs: 1, expiryWarningMs: 0, diskFreeMinPercent: 5 },
    ...{ clock: time.clock, log: silentLog },
  })
  findings.look()
  time.pass(60_000)
  const told = findings.look()
  const count = (tenant: string): number => told.filter((one) => one.tenantId === tenant).length
  const own = ['zenith', operatorId].map(count)
  expect([...own, count('a')]).toEqual([3, 1, findingsPerNodeMax - 4])
  // The most severe come first.
  expect(told.at(-1)?.condition).toBe('disk')
})
