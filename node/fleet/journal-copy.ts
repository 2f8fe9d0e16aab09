// Sends the journal of a node without a database to a control node, which explains its answers
// later.
import type { Settings } from '#settings/settings.ts'
import { journalDirectory } from '#journal/journal-directory.ts'
import { JournalSender } from '#fleet/journal/journal-sender.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { noLongerThan } from '#lib/timer.ts'
import { JournalCopier } from '#journal/journal-copier.ts'

const everyMs = 10_000
/** Time for the last records at a stop. */
const lastLookMs = 1_000

/** @returns the function that ends it, to be called when the journal has ended */
export function startJournalSender(
  { settings, dataDir, token }: { settings: Settings; dataDir: string; token: string | null },
  log: Log,
): () => Promise<void> {
  if (!settings.journal.enabled) return () => Promise.resolve()
  const sink = new JournalSender({ urls: settings.bundle.urls, token })
  const directory = journalDirectory(dataDir)
  const copier = new JournalCopier({ directory, sink, clock: systemClock, log })
  const timer = setInterval(() => void copier.look(), everyMs)
  return async () => {
    clearInterval(timer)
    await noLongerThan(lastLookMs, copier.stop())
  }
}
