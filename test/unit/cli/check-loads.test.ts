// A check of a small configuration loads what it uses: files and packages are counted.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const imported = /^import (?!type )[^'"]*'([^']+)'/gm

/** Returns the modules that are loaded with a file, before its first line runs. */
function loadedWith(entry: string) {
  const files = new Set<string>()
  const packages = new Set<string>()
  const waiting = [join(root, entry)]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue
    files.add(file)
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(imported)) {
      if (name.startsWith('#')) waiting.push(join(root, name.slice(1)))
      else if (name.startsWith('.')) waiting.push(join(dirname(file), name))
      else packages.add(name)
    }
  }
  return { files: files.size, packages: [...packages].sort() }
}

test.each([
  // A module of Node is loaded with all that its names bring: node:util brings the terminal.
  ['cli/main.ts', 16, ['node:module', 'node:os']],
  // What was said of these files before is found with these.
  ['cli/commands/check.ts', 90, ['node:crypto', 'node:fs', 'node:net']],
  ['compiler/compile.ts', 305, ['js-yaml', 'node:crypto', 'node:module', 'yaml']],
] as const)('%s loads at most %i files, and these packages', (entry, filesMax, packages) => {
  const loaded = loadedWith(entry)
  expect(loaded.files).toBeLessThanOrEqual(filesMax)
  expect(loaded.packages.filter((name) => name !== 'node:path')).toEqual(packages)
})
