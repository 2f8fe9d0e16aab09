// A build differs from another by what is in it, not by times and sizes of its files.
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { programStamp } from '#gitops/sync/program-stamp.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'

test('a build is told by the hash that it has of its files and packages', () => {
  const box = gitSandbox()
  const stampOf = (contents: string): string => {
    box.write('dist/package.json', JSON.stringify({ contents }))
    return programStamp(box.at('dist'))
  }
  const stamps = ['a', 'b', 'a'].map(stampOf)
  assert.equal(stamps[0], stamps[2])
  assert.notEqual(stamps[0], stamps[1])
})

for (const [name, another] of [
  ['arch', 'mips'],
  ['version', 'v1.2.3'],
] as const) {
  test(`a build is told by process.${name}, too: what another machine kept is of another`, () => {
    const box = gitSandbox()
    box.write('dist/package.json', JSON.stringify({ contents: 'a' }))
    const own = programStamp(box.at('dist'))
    const before = Object.getOwnPropertyDescriptor(process, name)!
    Object.defineProperty(process, name, { ...before, value: another })
    try {
      assert.notEqual(programStamp(box.at('dist')), own)
    } finally {
      Object.defineProperty(process, name, before)
    }
    assert.equal(programStamp(box.at('dist')), own)
  })
}

test('sources are told by their files and packages', () => {
  const box = gitSandbox()
  const imports = { '#lib/*': './lib/*', '#cli/*': './cli/*', '#test/*': './test/*' }
  box.write('src/package.json', JSON.stringify({ imports }))
  const stampWith = (name: string): string => {
    box.write(`src/${name}`, '')
    return programStamp(box.at('src'))
  }
  const stamps = ['lib/a.ts', 'cli/files/b.ts', 'package-lock.json'].map(stampWith)
  assert.equal(new Set(stamps).size, 3)
  assert.equal(programStamp(box.at('src')), stamps[2])
  assert.equal(stampWith('test/a.test.ts'), stamps[2])
  assert.equal(programStamp(), programStamp())
})
