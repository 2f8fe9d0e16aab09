// Makes the effect of a commit, and its files, what one of its requests is answered with.
import type { WriteRequest, WrittenFile } from '#config/operation.ts'
import { noEffect } from '#judge/effects/commit-effect.ts'
import type { CommitEffect } from '#judge/effects/commit-effect.ts'
import type { TenantViewer } from '#judge/sides/viewer.ts'
import type { Prepared } from './prepare.ts'
import type { Selection } from './select.ts'

/** @returns undefined: the client does not want the effect */
export type EffectOfRequest = (request: WriteRequest) => string | undefined

/** @param viewed the part of the effect that a tenant may see */
export function effectOfRequest(
  done: Selection['done'],
  effect: CommitEffect | undefined,
  viewed: (tenant: string) => TenantViewer,
): EffectOfRequest | undefined {
  const text = effect?.text
  if (text === undefined) return undefined
  const together = done.filter(({ isChanged }) => isChanged).length
  return ({ effectFor }) => {
    if (effectFor === undefined) return undefined
    if (together === 1) return text(null)
    const { tenant } = effectFor
    // The effect of the commit's other requests is not shown.
    return `${text(tenant === null ? null : viewed(tenant))}; together=${together}`
  }
}

export const effectOfNothing: EffectOfRequest = ({ effectFor, isDryRun }) =>
  effectFor === undefined || isDryRun === true ? undefined : noEffect

export function writtenFiles({ changes }: Prepared): readonly WrittenFile[] {
  return Array.from(changes, ([path, file]) => {
    const bytes = file?.bytes ?? null
    return { path, text: bytes === null ? null : Buffer.from(bytes).toString() }
  })
}
