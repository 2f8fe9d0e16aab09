// A node that activates one generation after another until it is killed, and prints each step.
import { readFileSync } from 'node:fs'
import { signingKeyFromPem } from '#bundle/signature/channel.ts'
import { buildNode, generation, publish } from './node-under-test.ts'

const [dataDir, keyFile] = process.argv.slice(2)
const key = signingKeyFromPem(readFileSync(keyFile!, 'utf8'))
const { node, log } = buildNode({ trusted: key, dataDir: dataDir!, threads: 0 })
const started = await node.start()
if (!started.ok) throw new Error(started.error)
const errors = log.filter(({ level }) => level === 'error').map(({ message }) => message)
const seq = node.status().active?.seq ?? 0
say({ step: 'booted', seq, port: started.value.port, errors })
// The parent queries the serving generation, then lets it go on.
process.stdin.once('data', () => void activateForEver())

async function activateForEver(): Promise<void> {
  for (let next = seq + 1; ; next++) {
    say({ step: 'begins', seq: next })
    const activated = await node.activate(publish(key, generation(next), { seq: next }))
    say({ step: activated.ok ? 'activated' : 'refused', seq: next })
  }
}

function say(step: object): void {
  process.stdout.write(`${JSON.stringify(step)}\n`)
}
