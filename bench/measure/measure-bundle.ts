// A process that turns a bundle file into a state that can answer, and reports the cost of each
// step. Run by the benchmark `bundle`, so that nothing else counts as its memory.
import { generateKeyPairSync } from 'node:crypto'
import { signingKeyFromPem } from '#bundle/signature/channel.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import { carryRoutingState, createRoutingState } from '#routing/state/candidates.ts'
import { residentBytes } from '../support/process-cpu.ts'
import { readShared } from '../data/bundle-file.ts'

export interface BundleResult {
  readonly readMs: number
  /** Signature, digests and every check of the columns. */
  readonly loadMs: number
  readonly stateMs: number
  /** From a serving bundle to the same bundle again. */
  readonly carryMs: number
  readonly stateBytes: number
  /** Memory of the process with one bundle and one state. */
  readonly residentBytes: number
}

function measureBundle(path: string): BundleResult {
  const { privateKey } = generateKeyPairSync('ed25519')
  const key = signingKeyFromPem(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  let lastMs = performance.now()
  const lap = (): number => {
    const nowMs = performance.now()
    const tookMs = nowMs - lastMs
    lastMs = nowMs
    return tookMs
  }
  const bytes = readShared(path)
  const readMs = lap()
  signBundle(bytes, key)
  lap()
  const bundle = loadBundle(bytes, [key])
  if (!bundle.ok) throw new Error(bundle.error.message)
  const loadMs = lap()
  const state = createRoutingState(bundle.value, 1)
  const stateMs = lap()
  const { now } = residentBytes('self')
  lap()
  carryRoutingState({ bundle: bundle.value, state }, bundle.value, 2)
  const carryMs = lap()
  const stateBytes = state.buffers.table.byteLength + state.buffers.cursors.byteLength
  return { readMs, loadMs, stateMs, carryMs, stateBytes, residentBytes: now }
}

process.stdout.write(`${JSON.stringify(measureBundle(process.argv[2] ?? ''))}\n`)
