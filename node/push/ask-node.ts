// Asks the running node, from the hook, for its verdict on a push: it knows the files of the last
// commit already.
import { askLineSocket } from '#process/data/line-socket.ts'
import type { PushedHead } from '#gitops/sync/push-judge.ts'
import { pushBytesMax, pushSocketName, questionLine, readVerdict } from './messages.ts'
import type { Verdict } from './messages.ts'

/** After so long the hook judges by itself: a large commit may keep the node busy. */
const patienceMs = 20_000

/** @returns undefined: there is no valid answer. Never rejects. */
export async function askNode(dataDir: string, push: PushedHead): Promise<Verdict | undefined> {
  const bytesMax = pushBytesMax.answer
  const place = { dataDir, name: pushSocketName, bytesMax, patienceMs }
  return readVerdict((await askLineSocket(place, questionLine(push))) ?? '')
}
