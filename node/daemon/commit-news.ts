// Part: announces the active commit to nodes that share a PostgreSQL database.
import { soaSerialOf } from '#bundle/signature/channel.ts'
import { CommitNews } from '#gitops/sync/commit-news.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { commitChannel } from '#state/sql/commit-news.ts'
import { listenForChanges } from '#state/sql/change-listener.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has } from '#node/parts/part-outputs.ts'
import type { CommitWriter } from '#config/operation.ts'

/**
 * Nodes without a shared database are alone, and a node with its own repository waits for nobody.
 */
export const shareCommitNews = (
  have: Given & Has<'records' | 'node' | 'gitops'>,
): Outcome<Has<'commitNews'>> => {
  const { settings, records, node, gitops } = have
  const { url } = settings.database
  const isAlone = url === '' || settings.gitops.url === ''
  if (isAlone) return ok({ gives: { commitNews: null } })
  const news = new CommitNews({
    name: settings.state.nodeName,
    count: () => {
      const { active } = node.status()
      return active === null ? 0 : soaSerialOf(active)
    },
    look: () => gitops.poke(),
    announce: (text) => void records.state.persistent.commitNews.announce(text),
    clock: systemClock,
  })
  const hear = (text?: string): void => {
    if (text !== undefined) news.heard(text)
  }
  const listener = listenForChanges(url, commitChannel, hear, systemAfter)
  return ok({ gives: { commitNews: news }, stop: () => listener.close() })
}

/**
 * Answers a change when the other nodes are active on it; nodes that do not follow count as gone.
 */
export function writerInCluster(
  writer: CommitWriter,
  { commitNews }: Has<'commitNews'>,
): CommitWriter {
  return {
    write: async (request) => {
      const done = await writer.write(request)
      const isNew = done.ok && done.value.isChanged && request.isDryRun !== true
      if (isNew) await commitNews?.followed()
      return done
    },
  }
}
