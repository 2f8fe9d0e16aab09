// Lets `gslbd backup` ask a running node for a backup, since the node holds its database.
import { isAbsolute } from 'node:path'
import { askLineSocket, openLineSocket } from '#process/data/line-socket.ts'
import type { LineSocket } from '#process/data/line-socket.ts'
import type { Log } from '#lib/log.ts'
import { fieldsOf, parseJson } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { AskedBackup, Backups } from './backups.ts'

/** Name of the socket in the data directory. */
const name = 'backup.sock'
const bytesMax = 65_536
/** Time for a large repository on a slow disk. */
const patienceMs = 30 * 60_000

export function openBackupSocket(
  dataDir: string,
  takeNow: Backups['takeNow'],
  log: Log,
): LineSocket {
  return openLineSocket({
    ...{ dataDir, name, bytesMax },
    answer: async (line) => {
      const path = pathIn(line)
      return path === undefined ? undefined : JSON.stringify(await takeNow(path))
    },
    onFault: (error) => log.warn({ err: error }, 'gslbd backup cannot ask this node'),
  })
}

/**
 * @param path absolute, or '' for `backup.directory`
 *
 * @returns undefined: no node answers. Errors: a sentence
 */
export async function askForBackup(
  dataDir: string,
  path: string,
): Promise<Result<AskedBackup, string> | undefined> {
  const question = `${JSON.stringify({ path })}\n`
  const answer = await askLineSocket({ dataDir, name, bytesMax, patienceMs }, question)
  return answer === undefined ? undefined : readAnswer(answer)
}

function readAnswer(line: string): Result<AskedBackup, string> | undefined {
  const { ok: isOk, value, error } = fieldsOf(parseJson(line))
  if (isOk === false && typeof error === 'string') return err(error)
  return isOk === true ? ok(value as AskedBackup) : undefined
}

/** @returns undefined: the line is no question */
function pathIn(line: string): string | undefined {
  const { path } = fieldsOf(parseJson(line))
  return typeof path === 'string' && (path === '' || isAbsolute(path)) ? path : undefined
}
