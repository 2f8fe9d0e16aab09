// Reads the target groups of Prometheus: what `file_sd` files and `http_sd` servers say, in JSON.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { isFields } from '#lib/text/json.ts'
import type { RawTarget } from './kind.ts'
import { discoveryLimits } from './limits.ts'
import { hostAndPort, labelsOf } from './targets.ts'

/** Errors: what is wrong and where, as half a sentence. */
export function targetsOfGroups(json: unknown): Result<readonly RawTarget[], string> {
  if (!Array.isArray(json)) return err('it is no list of target groups')
  const targets: RawTarget[] = []
  for (const [i, group] of json.entries()) {
    if (!isFields(group)) return err(`group ${i + 1} is no object`)
    const { targets: listed, labels = {} } = group
    if (!Array.isArray(listed)) return err(`group ${i + 1} has no list "targets"`)
    if (!isFields(labels)) return err(`the labels of group ${i + 1} are no object`)
    const known = labelsOf(labels)
    for (const target of listed as readonly unknown[]) {
      if (typeof target !== 'string') return err(`group ${i + 1} has a target that is no text`)
      if (targets.length === discoveryLimits.targetsMax) return err(tooMany)
      targets.push({ ...hostAndPort(target), labels: known })
    }
  }
  return ok(targets)
}

export const tooMany = `it has more than ${discoveryLimits.targetsMax} targets`
