// Condition: a zone that comes from other servers is not kept up to date, is held, or has expired.
import type { Condition } from '#alerts/condition.ts'
import type { ZoneTransferFacts } from '#alerts/facts.ts'
import { operatorId } from '#state/ports/alerts.ts'

const titles: Readonly<Partial<Record<ZoneTransferFacts['state'], string>>> = Object.freeze({
  failing: 'cannot be kept up to date from its primary servers',
  held: 'comes with more changes than guardrails permit, and is held',
  refused: 'is not brought up to date: what its primary servers send cannot be used here',
  expired: 'has expired',
})

export const zoneTransfer: Condition = {
  name: 'zone-transfer',
  severity: 'error',
  audience: 'operator',
  isOfNode: true,
  // A primary server that is started again is no alert.
  holdMs: 300_000,
  clearMs: 0,
  says: 'For five minutes a zone from elsewhere fails, is held or refused, or has expired',
  find: (facts) =>
    facts.zoneTransfers().flatMap(({ zone, state, serial, error }) => {
      const title = titles[state]
      if (title === undefined) return []
      const about = { tenantId: operatorId, subject: `zone ${zone}` }
      const remedy =
        state === 'held'
          ? ` If that is meant: POST /api/v1/zone-transfers/${zone}/accept with a reason.`
          : ''
      const all = `${zone} ${title}${answeredNow(state, serial)}`
      return [{ ...about, title: all, detail: `${error}.${remedy}` }]
    }),
}

function answeredNow(state: ZoneTransferFacts['state'], serial: number | undefined): string {
  if (state === 'expired') return ': its records are answered SERVFAIL'
  if (serial === undefined) return '; nothing came before: its records are answered SERVFAIL'
  return `; serial ${serial}, which came before, stays`
}
