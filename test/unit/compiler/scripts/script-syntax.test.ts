// The body of a script step is read by the engine that will run it, and nothing of it happens.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { beforeAll, describe, expect, test } from 'vitest'
import { scriptMistake } from '#compiler/scripts/script-syntax.ts'
import { loadScriptCheck } from '#routing/script/check.ts'
import { ScriptOutcome } from '#routing/script/contract.ts'
import { loadScriptEngine } from '#routing/script/engine.ts'
import type { ScriptEngine } from '#routing/script/engine.ts'
import { scriptQuestion } from '../../../support/script-question.ts'

let engine: ScriptEngine
beforeAll(async () => {
  engine = await loadScriptEngine()
  await loadScriptCheck()
})

const input = { candidates: [], client: {}, qname: '.', qtype: 'A', now: 0 }
const outcomeOf = (body: string): number => engine.run(body, scriptQuestion(input)).outcome

describe('an accepted script can be parsed by the engine', () => {
  test.each([
    ['an assignment', 'result = candidates.map((c) => c.ip)'],
    ['sloppy code', 'with (client) { result = [] }'],
    ['a function that returns', 'function best(c) { return c }\nvar result = [best()]'],
    ['a comment at the end', 'result = [] // none'],
    ['the word return in a text', 'result = ["return"]'],
    ['a module that is loaded as it runs', 'import("std"); result = []'],
  ])('%s', (_, body) => {
    expect(scriptMistake(body)).toBeUndefined()
    expect(outcomeOf(body)).toBe(ScriptOutcome.Done)
  })
})

describe('a refused script is refused by the engine, too', () => {
  test.each([
    ['an open list', 'result = [', 'result = ['.length],
    ['a return of the script itself', 'const a = 1\nreturn [a]', 12],
    ['a brace too many', 'result = []\n}', 12],
    ['a brace that ends a function around it', '}, function () {', 0],
    ['a module', 'import fs from "node:fs"', 7],
    ['a word out of place, behind signs of two units', 'result = ["😀", "é"] oops', 21],
    ['what Node knows and this engine does not', 'using file = null', 6],
  ])('%s', (_, body, character) => {
    const mistake = scriptMistake(body)
    expect(mistake).toMatchObject({ character })
    expect(mistake?.message).toMatch(/ \(line \d+, column \d+ of the script\)$/)
    expect(outcomeOf(body)).toBe(ScriptOutcome.Syntax)
  })

  test.each(['(', '[', '{', 'a=>', '-', 'new '])('nesting without end: %s', (part) => {
    expect(scriptMistake(part.repeat(60_000))).toBeDefined()
    expect(scriptMistake('result = []')).toBeUndefined()
  })
})

test('runs no part of the body', () => {
  for (const body of ['for (;;);', 'throw 1', 'class A { static { for (;;); } }']) {
    expect(scriptMistake(body)).toBeUndefined()
  }
})

describe('an engine is loaded for the first file that may have a script step', () => {
  const plain = String.raw`spec: { filterChain: [geo-ip, failover], description: "a \"script\"\n" }`

  test.each([
    ['as people write it', 'spec: { filterChain: ["script:result = []"] }'],
    ['as YAML may have it', String.raw`spec: { filterChain: ["\x73cript:result = []"] }`],
    ['on two lines', 'spec: { filterChain: ["scr\\\n  ipt:result = []"] }'],
  ])('%s', async (_, text) => {
    const files = [plain, '', text, plain]
    const thread = new URL('../../../support/script-ready.ts', import.meta.url)
    const [seen] = (await once(new Worker(thread, { workerData: files }), 'message')) as unknown[]
    expect(seen).toEqual([false, false, true, true])
  })
})
