// Probes the addresses of its arguments at once, twice each; prints results and log as JSON.
import { Random } from '#lib/random.ts'
import { openIcmpSocket } from '#health/probes/icmp-socket.ts'
import type { ProbeResult } from '#health/probes/probe.ts'
import { probeTarget, unlessStalled } from './check.ts'
import { testProbes } from './probe-table.ts'

const { probes, lines } = testProbes()

function probe(address: string): Promise<ProbeResult> {
  const check = { type: 'icmp', timeoutMs: 1_000, icmpCount: 3 } as const
  return unlessStalled(
    () => new Promise((resolve) => probes.icmp.run(probeTarget('m1', check, address), resolve)),
  )
}

/** Sends replies that nobody asked for to 127.0.0.1, of all lengths; needs a raw socket. */
function forge(): () => void {
  const socket = openIcmpSocket('v4')
  if (!socket.ok || !socket.value.isRaw) throw new Error('no raw socket to forge with')
  const random = new Random(1)
  const timer = setInterval(() => {
    for (let bytes = 8; bytes < 40; bytes++) {
      const packet = Buffer.from(Array.from({ length: bytes }, () => random.below(256)))
      packet.writeUInt16BE(0, 0)
      socket.value.send(packet, Buffer.from([127, 0, 0, 1]))
    }
  }, 1)
  return () => {
    clearInterval(timer)
    socket.value.close()
  }
}

const [mode, ...addresses] = process.argv.slice(2)
const stopForging = mode === 'forge' ? forge() : undefined
const results: Record<string, ProbeResult[]> = {}
await Promise.all(
  addresses.map(async (address) => {
    results[address] = [await probe(address), await probe(address)]
  }),
)
stopForging?.()
process.stdout.write(JSON.stringify({ results, lines }))
