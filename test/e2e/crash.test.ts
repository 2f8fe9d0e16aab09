// Tests crashes: of a responder, of a bundle's responders again and again, and of the whole process
// at any moment.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Random } from '#lib/random.ts'
import { breakSocket, udpDescriptors } from '#test/support/broken-socket.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { answerOf, askGeneration, generation, publish } from '#test/support/node-under-test.ts'
import type { NodeOptions } from '#test/support/node-under-test.ts'
import { startedNode } from '#test/support/started-node.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const key = newSigningKey()
const at = (seq: number, number = seq) => publish(key, generation(number), { seq })

async function start(options: Partial<NodeOptions> = {}) {
  const started = await startedNode({ trusted: key, ...options })
  const has = (text: string): boolean => started.log.some(({ message }) => message.includes(text))
  return { ...started, has }
}

describe('a responder that dies', () => {
  test('is started again, and the queries that waited are answered', async () => {
    const { node, port, has } = await start()
    await node.activate(at(1))
    const [fd] = udpDescriptors(port)
    const broken = breakSocket(fd!)
    await waitUntil('the crash', () => has('a DNS thread died'))
    const waiting = askGeneration(port)
    broken.mend()
    expect(await waiting).toBe(answerOf(1))
    await waitUntil('the acknowledgement', async () => (await node.activate(at(2))).ok)
    expect(await askGeneration(port)).toBe(answerOf(2))
  })

  test('does not take TCP with it', async () => {
    const { node, port, has } = await start()
    await node.activate(at(1))
    const broken = breakSocket(udpDescriptors(port)[0]!)
    await waitUntil('the crash', () => has('a DNS thread died'))
    expect(await askGeneration(port, '127.0.0.1', true)).toBe(answerOf(1))
    broken.mend()
  })

  test('without a way back keeps its bundle', async () => {
    const { node, port, log } = await start({ dataDir: tempDir('crash') })
    await node.activate(at(1))
    const broken = breakSocket(udpDescriptors(port)[0]!)
    const deaths = (): number => log.filter(({ message }) => message === 'a DNS thread died').length
    await waitUntil('four crashes', () => deaths() >= 4)
    broken.mend()
    expect(await askGeneration(port)).toBe(answerOf(1))
    expect(node.status()).toMatchObject({ active: { seq: 1 }, refused: null })
  })
})

test('a bundle under which responders die again and again is quarantined, for good', async () => {
  const dataDir = tempDir('crash')
  const { node, port, has, stop } = await start({ dataDir })
  await node.activate(at(1))
  await node.activate(at(2))
  const broken = breakSocket(udpDescriptors(port)[0]!)
  await waitUntil('the quarantine', () => has('bundle quarantined'))
  broken.mend()
  expect(await askGeneration(port)).toBe(answerOf(1))
  expect(node.status()).toMatchObject({
    active: { seq: 1 },
    refused: { code: 'quarantined', seq: 2 },
  })
  expect(node.resumePoint()).toMatchObject({ seq: 2, digest: at(1).signedRecord.record.digest })
  // The same octets under a new seq are still the same octets.
  expect(await node.activate(at(3, 2))).toMatchObject({ error: { code: 'quarantined' } })
  await stop()

  const second = await start({ dataDir })
  expect(await askGeneration(second.port)).toBe(answerOf(1))
  expect(await second.node.activate(at(1))).toMatchObject({ error: { code: 'rollback' } })
  expect((await second.node.activate(at(3))).ok).toBe(true)
  await second.stop()

  const third = await start({ dataDir })
  expect(await askGeneration(third.port)).toBe(answerOf(3))
  expect(third.has('not used')).toBe(false)
})

interface Step {
  readonly step: 'booted' | 'begins' | 'activated' | 'refused'
  readonly seq: number
  readonly port: number
  readonly errors: readonly string[]
}

describe('kill -9', () => {
  const kills = 20

  test(`at ${kills} moments of activation leaves a whole bundle that was activated`, async () => {
    const dataDir = tempDir('crash')
    const keyFile = join(tempDir('crash-key'), 'key.pem')
    writeFileSync(keyFile, key.privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const random = new Random(20)
    let acknowledged = 0
    let begun = 0
    for (let kill = 0; kill < kills; kill++) {
      const child = spawn(process.execPath, [script, dataDir, keyFile], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      const exited = once(child, 'exit')
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const nextStep = async (): Promise<Step | undefined> => {
        const { value, done } = await lines.next()
        return done === true ? undefined : (JSON.parse(value) as Step)
      }
      const booted = await nextStep()
      expect(booted).toMatchObject({ step: 'booted', errors: [] })
      const { seq, port } = booted!
      expect(seq).toBeGreaterThanOrEqual(acknowledged)
      expect(seq).toBeLessThanOrEqual(begun)
      expect(await askGeneration(port)).toBe(seq === 0 ? 'rcode 5' : answerOf(seq))
      child.stdin.write('go\n')
      begun = seq + 1
      // Every other child lives until it has finished one: else a slow machine proves only starts.
      for (let step = await nextStep(); kill % 2 === 0; step = await nextStep()) {
        if (step?.step === 'begins') begun = step.seq
        if (step?.step === 'activated') acknowledged = step.seq
        if (step?.step !== 'begins') break
      }
      await delay(random.below(40))
      child.kill('SIGKILL')
      for (let step = await nextStep(); step !== undefined; step = await nextStep()) {
        expect(step.step).not.toBe('refused')
        if (step.step === 'begins') begun = step.seq
        else acknowledged = step.seq
      }
      await exited
    }
    expect(acknowledged).toBeGreaterThanOrEqual(kills / 2)
  })
})

const script = join(import.meta.dirname, '../support/crash-child.ts')
