// Health verdicts in memory.
import { storedForm } from '#state/file/verdict-lines.ts'
import type { HealthVerdicts, StoredVerdict, VerdictOwner } from '#state/ports/health-verdicts.ts'

export function createMemoryHealthVerdicts(): HealthVerdicts {
  const verdicts = new Map<string, StoredVerdict>()
  return {
    load: async () => [...verdicts.values()],
    save: async (changed) => {
      for (const verdict of changed) {
        verdicts.set(keyOf(verdict), storedForm(verdict))
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
