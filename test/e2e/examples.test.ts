// Each example does what its queries.txt and its README say, on a real node.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { signChannelRecord } from '#bundle/signature/channel.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import { Exit } from '#system/process/command.ts'
import { readConfigDirectory } from '#gitops/checkout/config-directory.ts'
import { main } from '#cli/main.ts'
import { createCompiler } from '#compiler/compile.ts'
import { rcodeNames } from '#dns/rcode.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { ask } from '#test/support/dns/client.ts'
import { buildNode } from '#test/support/node-under-test.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const folder = join(import.meta.dirname, '../../examples')
const examples = readdirSync(folder)
/** Enough for every member of the examples' weights to come, from the node's seed. */
const rounds = 60

interface Expectation {
  readonly query: string
  readonly expected: string
}

/** Pairs of a comment line and a query line. */
function expectationsIn(text: string): Expectation[] {
  const lines = text.split('\n')
  const queries = lines.flatMap((line, i) => (/^[^;\s]/.test(line) ? [i] : []))
  return queries.map((i) => {
    const comment = /^; ([A-Z]+.*)$/.exec(lines[i - 1] ?? '')
    if (comment === null) throw new Error(`line ${i + 1}: say above it what it gives`)
    const [rcode, ...values] = comment[1]!.split(' ')
    return { query: lines[i]!, expected: [rcode, ...values.sort()].join(' ') }
  })
}

async function serve(example: string): Promise<number> {
  const files = readConfigDirectory(join(folder, example))
  if (!files.ok) throw new Error(files.error)
  const compiled = createCompiler().compile(files.value, { commit: '' })
  if (!compiled.ok) throw new Error('the example has errors')
  const { bytes, digest } = compiled.bundle
  const key = newSigningKey()
  signBundle(bytes, key)
  const record = {
    channel: 'main',
    seq: 1,
    digest,
    previous: '',
    commit: '',
    issuedAtMs: 0,
    expiresAtMs: 0,
  }
  const { node } = buildNode({ trusted: key })
  const started = await node.start()
  if (!started.ok) throw new Error(started.error)
  onTestFinished(() => node.stop())
  const activated = await node.activate({
    signedRecord: signChannelRecord(record, key),
    bundle: bytes,
  })
  expect(activated.ok).toBe(true)
  return started.value.port
}

describe.each(examples)('examples/%s', (example) => {
  test('answers its queries', async () => {
    const expectations = expectationsIn(readFileSync(join(folder, example, 'queries.txt'), 'utf8'))
    expect(expectations.length).toBeGreaterThan(5)
    const port = await serve(example)
    const seen: Expectation[] = []
    for (const { query } of expectations) {
      const rcodes = new Set<string>()
      const values = new Set<string>()
      for (let i = 0; i < rounds; i++) {
        const reply = await ask({ host: '127.0.0.1', port }, query)
        rcodes.add(rcodeNames[reply.rcode]!)
        for (const { rdataText } of reply.answer) values.add(rdataText)
      }
      const words = [...values].flatMap((value) => value.split(' '))
      seen.push({ query, expected: [...rcodes, ...words.sort()].join(' ') })
    }
    expect(seen).toEqual(expectations)
  })

  test('has a README whose commands work', async () => {
    const readme = readFileSync(join(folder, example, 'README.md'), 'utf8')
    expect(readme).toMatch(/^# \S/)
    const lines = readme.split('\n').filter((line) => line.startsWith('    '))
    expect(lines.length).toBeGreaterThan(1)
    const directory = tempDir('readme')
    for (const line of lines) {
      // `echo 'TEXT' > FILE`, or a call of gslbd; files go to the test's own directory.
      const echo = /^ {4}echo '([^']*)' > (\S+)$/.exec(line)
      if (echo !== null) {
        writeFileSync(join(directory, echo[2]!), echo[1]!)
        continue
      }
      const words = line.trim().split(' ')
      expect(words[0]).toBe('gslbd')
      const args = words.slice(1).map((word) => {
        if (word.startsWith('examples/')) return join(folder, '..', word)
        return /\.(json|bundle)$/.test(word) ? join(directory, word) : word
      })
      const said: string[] = []
      const note = (text: string): void => void said.push(text)
      const exit = await main(args, { out: note, err: note, env: {}, isTerminal: false })
      expect([line, exit, exit === Exit.Ok ? '' : said.join('')]).toEqual([line, Exit.Ok, ''])
    }
  })
})
