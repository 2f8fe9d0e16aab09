// A node with the signed zone, as a process in a test's network: prints the DS record of the zone
// when it answers. Arguments: folder, algorithm, address, and a file with more records. Members of
// its pool that are to be enabled come as a line each time, which is printed once they are.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { DigestType, dsRdata } from '#dns/dnssec/zone-key.ts'
import { signedModel, signedName, startSignedNode } from '../dns/signed-zone.ts'
import { wireName } from '../dns/wire-name.ts'

const [folder = '', algorithm = '', listenAddr = '', file = ''] = process.argv.slice(2)
const node = await startSignedNode(folder, Number(algorithm), { listenAddr, port: 53 })
const more = readFileSync(file, 'utf8')
await node.serve(signedModel(Number(algorithm), ['192.0.2.10'], more, 60))
const ds = dsRdata(wireName(signedName), node.key, DigestType.Sha256)
const tag = (ds[0]! << 8) | ds[1]!
const digest = Buffer.from(ds.subarray(4)).toString('hex')
process.stdout.write(`${signedName} 300 IN DS ${tag} ${ds[2]} ${ds[3]} ${digest}\n`)

for await (const line of createInterface(process.stdin)) {
  await node.serve(signedModel(Number(algorithm), line.split(' '), more, 60))
  process.stdout.write(`${line}\n`)
}
