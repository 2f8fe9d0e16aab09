// Reading YAML costs what its text costs.
import { afterEach, expect, test } from 'vitest'
import { parseYaml, piecesMax } from '#compiler/yaml/parse/parse.ts'

const { env } = process
afterEach(() => {
  process.env = env
})

test.each([
  ['a file', 'kind: Pool\nspec: { members: [a, b] }\n'],
  ['one with faults', 'a: [\n]]]]\nb: "\n'],
  ['one that is not read to its end', '- a\n'.repeat(piecesMax)],
])('parsing %s neither reads nor changes the environment', (_what, text) => {
  const asked: (string | symbol)[] = []
  const watched = new Proxy({ ...env }, { get: (_target, name) => void asked.push(name) })
  process.env = watched
  parseYaml(text)
  expect(process.env).toBe(watched)
  expect(asked).toEqual([])
})
