// Measures the thread that signs ahead, from its start until nothing is left to sign, and answers
// that nobody has signed.
// Run by the benchmark `signing`; prints JSON.
import { setTimeout as sleep } from 'node:timers/promises'
import { RrType } from '#dns/rrtype.ts'
import { AheadSigner } from '#server/ahead/ahead-signer.ts'
import type { Log } from '#lib/log.ts'
import { AnswerLoop } from '../data/answer-mix.ts'
import { encodeQuery } from '../data/query-wire.ts'
import { signingGeneration } from '../data/signing-generation.ts'
import { residentBytes } from '../support/process-cpu.ts'
import { median } from '../support/statistics.ts'

export interface SignedAhead {
  readonly signatures: number
  readonly seconds: number
  /** Resident memory beyond that of before; 0: not looked at. */
  readonly bytes: number
}

export interface AheadCost {
  readonly services: number
  readonly members: SignedAhead
  readonly all: SignedAhead
  /** What an answer takes whose signature nobody has made. */
  readonly firstMicros: number
}

const membersEach = 4
const pollMs = 10
/** Nothing was made for so long: it is over. */
const quietMs = 500
const log: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
}

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

async function measure(services: number): Promise<Pick<AheadCost, 'members' | 'all'>> {
  const generation = signingGeneration({ services, isSigned: true })
  await sleep(quietMs)
  const [bytes, began] = [residentBytes('self').now, cpuSeconds()]
  const signer = new AheadSigner(log)
  signer.publish(generation)
  let members: SignedAhead | undefined
  let all: SignedAhead = { signatures: 0, seconds: 0, bytes: 0 }
  for (let quiet = 0; quiet < quietMs * 4 || all.signatures === 0;) {
    await sleep(pollMs)
    const { made } = signer.status()
    quiet = made === all.signatures ? quiet + pollMs : 0
    if (quiet > 0) continue
    all = { signatures: made, seconds: cpuSeconds() - began, bytes: 0 }
    if (made >= services * membersEach) members ??= all
  }
  const more = residentBytes('self').now - bytes
  await signer.stop()
  if (members === undefined) throw new Error(`${all.signatures} were signed, not all`)
  return { members, all: { ...all, bytes: more } }
}

/** Names that were not asked for, each once. */
function firstAnswer(names: number): number {
  const loop = new AnswerLoop(signingGeneration({ services: names * 2, isSigned: true }), 1)
  const micros: number[] = []
  for (let i = 0; i < names * 2; i++) {
    const query = encodeQuery(`svc${i}.gslb.example.com`, { edns: 'do', type: RrType.A })
    const startedMs = performance.now()
    loop.run(query, 1)
    micros.push((performance.now() - startedMs) * 1_000)
  }
  return median(micros.slice(names))
}

const isQuick = process.argv.includes('--quick')
const services = isQuick ? 200 : 10_000
const cost: AheadCost = {
  services,
  ...(await measure(services)),
  firstMicros: firstAnswer(isQuick ? 50 : 1_000),
}
process.stdout.write(`${JSON.stringify(cost)}\n`)
