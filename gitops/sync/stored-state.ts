// Stores the state that survives a crash: the accepted commit, and the seq and digest published
// last.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { EarlierState, EarlierStates } from '#gitops/guard/earlier.ts'
import { assert } from '#lib/assert.ts'
import { writeDurably } from '#lib/durable-file.ts'
import { fieldsOf, isFields, parseJson } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { shellWord } from '#lib/text/shell-word.ts'

export interface StoredState {
  /** '' before the first commit was accepted. */
  readonly commit: string
  /** Tree of `commit`; '': not known. */
  readonly tree: string
  readonly signer: string
  /** 0 before the first publication. */
  readonly seq: number
  /** Commits in the history of `commit`, itself included; 0: not counted yet. */
  readonly serial: number
  readonly digest: string
  readonly previous: string
  /** The states that answered before `commit`. */
  readonly earlier: EarlierStates
}

export const emptyState: StoredState = Object.freeze({
  commit: '',
  tree: '',
  signer: '',
  seq: 0,
  serial: 0,
  digest: '',
  previous: '',
  earlier: [],
})

/**
 * Loads the state; without a file it is empty. Errors: sentences. A damaged file must not pass for
 * a first start.
 *
 * @param path `gitops/state.json` in the data directory
 */
export function loadState(path: string): Result<StoredState, string> {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return ok(emptyState)
    return err(`${path} cannot be read: ${message}. Correct its permissions.`)
  }
  const state = stateOf(text)
  if (state !== undefined) return ok(state)
  const command = resetCommand(resolve(path, '../..'))
  return err(
    `${path} is damaged. Stop the node and run "${command}" to accept the current ` +
      'head of the branch anew.',
  )
}

/** The command, quoted for a shell, with an absolute path. */
export function resetCommand(dataDir: string): string {
  return `gslbd trust reset --data-dir ${shellWord(resolve(dataDir))}`
}

function stateOf(text: string): StoredState | undefined {
  const value = parseJson(text)
  if (!isFields(value)) return undefined
  // A file of an older version has no serial: it is counted anew.
  const { commit, signer, seq, serial = 0, digest, previous, tree = '', earlier = [] } = value
  if (!isObjectId(commit) || !isObjectId(tree)) return undefined
  if (!Array.isArray(earlier) || !earlier.every(isEarlier)) return undefined
  if (typeof digest !== 'string' || !/^(?:[0-9a-f]{64})?$/.test(digest)) return undefined
  if (typeof previous !== 'string' || !/^(?:[0-9a-f]{64})?$/.test(previous)) return undefined
  if (typeof signer !== 'string' || !isCount(seq) || !isCount(serial)) return undefined
  return { commit, tree, signer, seq, serial, digest, previous, earlier }
}

/** Whether the value is an object id, or '' for none. */
function isObjectId(value: unknown): value is string {
  return typeof value === 'string' && /^(?:[0-9a-f]{40})?$/.test(value)
}

function isEarlier(value: unknown): value is EarlierState {
  const { commit, tree, untilMs, takenBack = [] } = fieldsOf(value)
  const arePaths = Array.isArray(takenBack) && takenBack.every((one) => typeof one === 'string')
  return isObjectId(commit) && isObjectId(tree) && Number.isSafeInteger(untilMs) && arePaths
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** @throws the file system's error; the old state stays then */
export function saveState(path: string, state: StoredState): void {
  const text = `${JSON.stringify(state, null, 2)}\n`
  assert(stateOf(text) !== undefined, 'the next start can read what is stored')
  writeDurably(path, text)
}
