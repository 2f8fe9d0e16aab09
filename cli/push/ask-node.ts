// The hook's side: asks the node that runs, which knows the files of the last commit already.
import { connect } from 'node:net'
import { openControlPath } from '#cli/replace/control-path.ts'
import type { PushedHead } from '#gitops/sync/push-judge.ts'
import { answerOn, pushSocketName, questionLine, readVerdict } from './messages.ts'
import type { Verdict } from './messages.ts'

/** Then the hook judges by itself: a commit may keep the node busy. */
const patienceMs = 20_000

/** undefined: nobody answers, or not what was asked. Never rejects. */
export async function askNode(dataDir: string, push: PushedHead): Promise<Verdict | undefined> {
  try {
    const place = openControlPath(dataDir, pushSocketName)
    const socket = connect(place.path)
    const timer = setTimeout(() => socket.destroy(), patienceMs)
    try {
      const answer = answerOn(socket)
      socket.write(questionLine(push))
      return readVerdict((await answer) ?? '')
    } finally {
      clearTimeout(timer)
      socket.destroy()
      place.close()
    }
  } catch {
    return undefined
  }
}
