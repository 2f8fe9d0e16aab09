// Git's answers over HTTP: read when they are whole and in time, refused otherwise.
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { httpRefs, packetLines, reasonIn, refsIn } from '#gitops/source/http-git.ts'
import type { HttpRemote } from '#gitops/source/http-git.ts'
import { Random } from '#lib/random.ts'
import { laneCount } from '#test/support/lane.ts'
import { testSeed } from '#test/support/random.ts'

const answer = '001e# service=git-upload-pack\n0000000eversion 2\n0001000bagent=g0000'

test('lines are read, the marks between them are not', () => {
  expect(packetLines(Buffer.from(answer))).toEqual([
    '# service=git-upload-pack',
    'version 2',
    'agent=g',
  ])
})

test('each beginning of an answer is refused but those that end a list', () => {
  const whole = Array.from({ length: answer.length }, (_, length) => length).filter((length) => {
    try {
      return packetLines(Buffer.from(answer.slice(0, length))).length > 0
    } catch {
      return false
    }
  })
  expect(whole).toEqual(['001e# service=git-upload-pack\n0000'.length])
})

const corpus = new URL('../../../fuzz/corpus/git-pkt-lines/', import.meta.url)
const readable = { 'high-octets': ['\u{fffd}'.repeat(4)] }
test.each(readdirSync(corpus))('odd lines: %s', (name) => {
  const bytes = readFileSync(new URL(name, corpus))
  if (name in readable) expect(packetLines(bytes)).toEqual(readable[name as keyof typeof readable])
  else expect(() => packetLines(bytes)).toThrow(/no packet|the end is missing/)
})

test('lines with any octets changed give lines or an error', () => {
  const random = new Random(testSeed)
  for (let i = 0; i < laneCount(20_000); i++) {
    const bytes = Buffer.from(answer)
    for (let n = 0; n < 3; n++) bytes[random.below(bytes.length)] = random.below(256)
    try {
      const lines = packetLines(bytes)
      expect(lines.join('').length).toBeLessThanOrEqual(bytes.length)
    } catch (error) {
      expect((error as Error).message).toMatch(/no packet|the end is missing/)
    }
  }
})

/** @param totalMs that a call may take */
async function remote(
  answer: (response: ServerResponse) => void,
  totalMs = 60_000,
): Promise<HttpRemote> {
  const server = createServer((_, response) => answer(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { signal: stop } = new AbortController()
  return { url, credentials: '', limits: { idleMs: 60_000, totalMs }, stop }
}

test('a server that sends an octet now and then is given up, too', async () => {
  const trickling = await remote((response) => {
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
    const beat = setInterval(() => response.write('0'), 20)
    response.on('close', () => clearInterval(beat))
  }, 300)
  await expect(httpRefs(trickling, 'refs/heads/')).rejects.toThrow('did not answer in time')
})

const main = 'refs/heads/main'
test.each([
  [['unpack ok', `ok ${main}`], ''],
  [['unpack ok', `ng ${main} protected branch`], 'protected branch'],
  [['unpack no space left', `ok ${main}`], 'unpack no space left'],
  [
    ['unpack index-pack abnormal exit', `ng ${main} unpacker error`],
    'unpack index-pack abnormal exit',
  ],
  [['unpack ok', 'ok refs/heads/other'], undefined],
  [['unpack ok'], undefined],
  [[`ok ${main}`], undefined],
  [[], undefined],
])('a push that is answered by %j: %j', (lines, reason) => {
  expect(reasonIn(lines, main)).toBe(reason)
})

test('refs are read up to what the server says of itself; another line is refused', () => {
  const oid = 'a'.repeat(40)
  const lines = [`${oid} HEAD\0agent=g`, `${oid} ${main}`, `${oid} refs/tags/v1`]
  expect(Array.from(refsIn(lines, 'refs/heads/'))).toEqual([[main, oid]])
  for (const line of ['', oid, `${oid.slice(1)} ${main}`, `${oid} ${main} x`, `ERR ${main}`])
    expect(() => refsIn([line], ''), line).toThrow('not a ref')
})
