// Judges a push in the process of the hook, when no node runs or answers.
import type { PushCheck } from './install-hook.ts'
import { createMovedBetween } from '#judge/effects/moved-between.ts'
import { createPolicyTests } from '#judge/policy-tests/run.ts'
import { stillEarlier } from '#gitops/guard/earlier.ts'
import { parentDsPathOf, readParentDs } from '#gitops/guard/parent-ds.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { judgePush } from '#gitops/sync/push-judge.ts'
import type { PushedHead } from '#gitops/sync/push-judge.ts'
import { loadState, resetCommand } from '#gitops/sync/stored-state.ts'
import { statePathOf } from '#gitops/thread/options.ts'
import { systemClock } from '#lib/clock.ts'
import type { Verdict } from './messages.ts'

/** @returns a clause when there is no verdict */
export async function judgeHere(
  push: PushedHead,
  check: PushCheck,
  gitdir: string,
): Promise<Verdict | string> {
  const { dataDir, branch, requireSignature, allowedSigners, checkPolicy, databases } = check
  const state = loadState(statePathOf(dataDir))
  if (!state.ok) return state.error
  return judgePush({
    ...push,
    ...{ gitdir, branch, requireSignature, allowedSignersPath: allowedSigners },
    compiler: createCompilePort(checkPolicy, createPolicyTests(), createMovedBetween(databases)),
    earlier: stillEarlier(state.value.earlier, systemClock.nowMs()),
    accepted: state.value.commit === '' ? null : state.value,
    resetCommand: resetCommand(dataDir),
    parentDs: () => readParentDs(parentDsPathOf(dataDir)),
  })
}
