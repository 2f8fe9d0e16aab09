// Parts: the data directory, locked, or taken over from the process before; its preparation; the
// node's key.
import { openDataDirLater, openDataDirToServe } from '#process/data/data-dir.ts'
import { openNodeKey } from '#process/data/key.ts'
import { ok } from '#lib/result.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has } from '#node/parts/part-outputs.ts'
import { takeOverFrom } from '#process/data/predecessor.ts'

export const holdDataDir = ({ settings, log, before, gate }: Given): Outcome<Has<'dataDir'>> => {
  const dataDir =
    before === null
      ? openDataDirToServe(settings.dataDir, log)
      : ok(openDataDirLater(settings.dataDir))
  if (!dataDir.ok) return dataDir
  if (before === null) gate.open()
  return ok({ gives: { dataDir: dataDir.value }, stop: () => dataDir.value.release() })
}

export const prepareDataDir = async ({ prepare }: Given): Promise<Outcome> => {
  const prepared = await prepare()
  return prepared.ok ? ok({ gives: {} }) : prepared
}

export const openKey = ({ settings, log }: Given): Outcome<Has<'key'>> => {
  const key = openNodeKey(settings.dataDir)
  if (!key.ok) return key
  if (key.value.warning !== undefined) log.warn({}, key.value.warning)
  return ok({ gives: { key: key.value } })
}

/** From here on this process writes to the data directory; it answers on the sockets already. */
export const takeOver = async ({
  before,
  gate,
  ...parts
}: Given & Has<'dataDir' | 'node'>): Promise<Outcome> => {
  const taken = await takeOverFrom(before, parts)
  if (!taken.ok) return taken
  gate.open()
  return ok({ gives: {} })
}
