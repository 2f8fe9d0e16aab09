// Parts: the data directory, held against a second process; what is prepared in it; the node's key.
import { openDataDirToServe } from '#cli/data/data-dir.ts'
import { openNodeKey } from '#cli/data/key.ts'
import { ok } from '#lib/result.ts'
import type { Part } from './part.ts'

export const holdDataDir: Part = ({ settings, log }) => {
  const dataDir = openDataDirToServe(settings.dataDir, log)
  if (!dataDir.ok) return dataDir
  return ok({ gives: { dataDir: dataDir.value }, stop: () => dataDir.value.release() })
}

export const prepareDataDir: Part = async ({ prepare }) => {
  const prepared = await prepare()
  return prepared.ok ? ok({}) : prepared
}

export const openKey: Part = ({ settings, log }) => {
  const key = openNodeKey(settings.dataDir)
  if (!key.ok) return key
  if (key.value.warning !== undefined) log.warn({}, key.value.warning)
  return ok({ gives: { key: key.value } })
}
