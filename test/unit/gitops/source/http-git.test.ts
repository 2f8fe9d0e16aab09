// The lines of Git's answers over HTTP: read when they are whole, refused otherwise.
import { expect, test } from 'vitest'
import { packetLines } from '#gitops/source/http-git.ts'
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

test('whatever octets change, lines come out or an error', () => {
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
