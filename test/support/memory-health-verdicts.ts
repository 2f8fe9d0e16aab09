// Health verdicts for the life of the process.
import type { HealthVerdicts, StoredVerdict, VerdictOwner } from '#state/ports/health-verdicts.ts'

export function createMemoryHealthVerdicts(): HealthVerdicts {
  const verdicts = new Map<string, StoredVerdict>()
  return {
    load: async () => [...verdicts.values()],
    save: async (changed) => {
      for (const verdict of changed) {
        const { memberUid, ipAddress, healthy, warming, atMs } = verdict
        verdicts.set(keyOf(verdict), { memberUid, ipAddress, healthy, warming, atMs })
      }
    },
    forget: async (owners) => {
      for (const owner of owners) verdicts.delete(keyOf(owner))
    },
  }
}

function keyOf({ memberUid, ipAddress }: VerdictOwner): string {
  return `${memberUid} ${ipAddress}`
}
