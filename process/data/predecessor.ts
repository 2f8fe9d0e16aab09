// Defines what a process takes over from the one that ran before on the same data directory.
import { assert } from '#lib/assert.ts'
import { startCalledOff, whenCalledOff } from './called-off.ts'
import type { DataDir } from './data-dir.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { DnsNode } from '#server/node/node.ts'
import type { HandedSockets } from '#system/sockets/handed-sockets.ts'

export interface Predecessor {
  readonly sockets: HandedSockets
  /**
   * Resolves when the process before stores nothing any more and has freed the data directory; it
   * still answers. Errors: a sentence for the operator
   */
  readonly letGo: () => Promise<Result<null, string>>
}

/** Opens when the data directory is held: everything to be stored there waits for it. */
export class WriteGate {
  readonly #opening = Promise.withResolvers<undefined>()
  /** Rejects when the start was given up before. */
  readonly opened: Promise<undefined> = this.#opening.promise

  constructor() {
    this.opened.catch(() => undefined)
  }

  open(): void {
    this.#opening.resolve(undefined)
  }

  giveUp(): void {
    this.#opening.reject(new Error('the data directory was not taken over'))
  }
}

/** Starting many threads on a busy machine takes long; the process before answers meanwhile. */
const readyPatienceMs = 120_000

interface Successor {
  readonly node: Pick<DnsNode, 'settled' | 'catchUp'>
  readonly dataDir: Pick<DataDir, 'fault' | 'retry'>
  readonly log: Pick<Log, 'info'>
  readonly calledOff?: AbortSignal | undefined
}

/**
 * Takes the data directory once this process answers beside the one before. A start that is called
 * off changes nothing for that one. Errors: a sentence for the operator
 */
export async function takeOverFrom(
  before: Pick<Predecessor, 'letGo'> | null,
  { node, dataDir, log, calledOff }: Successor,
): Promise<Result<null, string>> {
  const settled = before === null ? true : node.settled(readyPatienceMs)
  const isReady = await Promise.race([settled, whenCalledOff(calledOff)])
  if (calledOff?.aborted === true) return err(startCalledOff)
  if (before === null) return ok(null)
  if (isReady !== true) return err('not all DNS threads were ready in time')
  assert(dataDir.fault() !== null, 'the process before holds the data directory until it lets go')
  log.info({}, 'answering beside the process before, which must release the data directory')
  const gone = await before.letGo()
  if (!gone.ok) return gone
  const fault = dataDir.retry()
  if (fault !== null) return err(fault)
  assert(dataDir.fault() === null, 'a directory that was taken over is held')
  node.catchUp()
  return ok(null)
}
