// Defines why a write failed, also that its outcome is unknown.
import { gitLimits } from '#gitops/limits.ts'
import { failed } from '#config/fault.ts'
import type { WriteFailure } from '#config/operation.ts'
import type { PushFailure } from '#gitops/source/config-source.ts'
import { diskError } from '#gitops/source/disk-error.ts'

export const notInGit = 'The change is not in Git.'

/** For a write that had not begun when its client stopped waiting. */
export const late = failed(
  'busy',
  'Other writes took too long; the change was not made. Try again.',
)

export const stopping = failed('unavailable', 'The node is stopping; the change was not made.')

export function contended(tries: number): WriteFailure {
  const seconds = gitLimits.writeMs / 1000
  return failed(
    'contended',
    `Others moved the branch first at each of ${tries} tries, for ${seconds} seconds. ` +
      `${notInGit} Send it again. If this happens often, send more operations in one request, ` +
      'or write through one node.',
  )
}

export function pushFailure(failure: Exclude<PushFailure, { kind: 'lost-race' }>): WriteFailure {
  if (failure.kind === 'refused') return failed('unreachable', failure.reason)
  const { reason } = failure.error
  if (failure.kind === 'not-done') return failed('unreachable', `${reason} ${notInGit}`)
  return failed('uncertain', `${reason} It is not known whether the change is in Git: look at it.`)
}

/** The failure in words for the operator; undefined when the disk is not the cause. */
export function diskFailure(error: unknown, isPushed: boolean): WriteFailure | undefined {
  const refusal = diskError(error)
  if (refusal !== undefined && isPushed) {
    const where = 'The change is in Git; it goes live as soon as the disk can be written.'
    return failed('uncertain', `${refusal.reason} ${where}`)
  }
  return refusal && failed('unreachable', `${refusal.reason} ${notInGit}`)
}
