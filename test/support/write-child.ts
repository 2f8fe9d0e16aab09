// A process that writes pools one after the other, and prints which were acknowledged.
import { readFileSync } from 'node:fs'
import { startWriteScene } from './write-scene.ts'

const [dataDir = '', pemPath = '', url = '', signers = '', label = '', first = '0', count = '0'] =
  process.argv.slice(2)
/** Requests under way at the same time. */
const lanes = 8

const scene = await startWriteScene({
  dataDir,
  pem: readFileSync(pemPath, 'utf8'),
  url,
  allowedSignersPath: signers,
})
process.stdout.write('ready\n')

let next = Number(first)
const end = next + Number(count)
const lane = async (): Promise<void> => {
  while (next < end) {
    const name = `${label}-${next++}`
    const written = await scene.write({
      verb: 'create',
      kind: 'Pool',
      tenant: 'default',
      name,
      spec: { members: [{ ipAddress: '192.0.2.1', port: 80 }] },
    })
    const said = written.ok
      ? { name, revision: written.value.revision }
      : { name, failure: written.error }
    process.stdout.write(`${JSON.stringify(said)}\n`)
  }
}
await Promise.all(Array.from({ length: lanes }, lane))
await scene.stop()
process.exit(0)
