// Tests that a script's use of JavaScript that is absent at run time is refused with its place.
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { scriptAbsences } from '#compiler/scripts/script-absences.ts'
import { absentFromScripts } from '#compiler/scripts/script-absent.ts'
import { scriptTokens } from '#compiler/scripts/script-tokens.ts'
import { ScriptOutcome } from '#routing/script/contract.ts'
import { loadScriptEngine } from '#routing/script/engine.ts'
import type { ScriptEngine } from '#routing/script/engine.ts'
import { scriptQuestion } from '../../../support/script-question.ts'

let engine: ScriptEngine
beforeAll(async () => {
  engine = await loadScriptEngine()
})

const numbers = { weight: 1, priority: 0, health_score: 1, rtt_ms: 0 }
const candidates = [{ ip: '192.0.2.1', region: 'DE', ...numbers }]
const input = { candidates, client: {}, qname: '.', qtype: 'A', now: 0 }
const run = (body: string) => engine.run(body, scriptQuestion(input))
const found = (body: string) => scriptAbsences(body).map(({ name }) => name)
/** Globals that both the engine and Node have. */
const lacks = (path: string): string =>
  `(() => { try { return (${path}) === undefined } catch { return true } })()`

describe('the list is that of the engine', () => {
  test('the engine has none of the names', () => {
    for (const name of absentFromScripts.keys()) {
      const place = name.replace(/\.(\$\S+)$/, '["$1"]')
      const { named } = run(`result = ${lacks(place)} ? ["192.0.2.1"] : []`)
      expect(named.length, name).toBe(1)
    }
  })

  test('each global of Node, and each property of a global, is there or in the list', () => {
    const odd = /\W\W|^(?:GLOBAL|root)$/
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      const value: unknown = name === 'localStorage' ? {} : Reflect.get(globalThis, name)
      const isThere = run(`result = ${lacks(name)} ? [] : ["192.0.2.1"]`).named.length === 1
      if (!isThere) {
        const known = absentFromScripts.has(name) || isOfTests(name) || odd.test(name)
        expect(known || value === undefined, name).toBe(true)
        continue
      }
      const kind = typeof value
      if ((kind !== 'function' && kind !== 'object') || value === null || value === globalThis) {
        continue
      }
      for (const key of Object.getOwnPropertyNames(value).filter((part) => /^[$\w]+$/.test(part))) {
        const path = `${name}.${key}`
        const isPart = run(`result = ("${key}" in ${name}) ? ["192.0.2.1"] : []`).named.length === 1
        expect(isPart || absentFromScripts.has(path), path).toBe(true)
      }
    }
  })
})

/** Globals of the test runner. */
const isOfTests = (name: string): boolean => /vitest|^__/.test(name)

describe('a use that fails at run time is found with its place', () => {
  test.each([
    ['Intl', 'const f = new Intl.NumberFormat("de"); result = []', 14],
    ['structuredClone', 'result = structuredClone(candidates).map((c) => c.ip)', 9],
    ['Temporal', 'result = []; Temporal.Now.instant()', 13],
    ['Atomics', 'Atomics.add(new Int32Array(1), 0, 1)', 0],
    ['Array.fromAsync', 'const all = Array.fromAsync(candidates)', 18],
    ['Array.fromAsync', 'globalThis.Array.fromAsync([])', 17],
    ['Intl', 'globalThis.Intl.Collator()', 11],
    ['Uint8Array.prototype.toHex', 'result = [new Uint8Array(2).toHex()]', 28],
    ['RegExp.$1', '/(a)/.test("a"); result = [RegExp.$1.length]', 34],
    ['fetch', 'result = [`a${ fetch("https://example.org") }b`]', 15],
    ['console', 'if (true) console.log(1)', 10],
    ['console', 'const f = (c) => { console.log(c) }; f(1)', 19],
    ['URL', 'const x = { URL: 1, u: new URL("https://example.org") }', 27],
    ['process', 'const a = 4 / 2; const b = process.env / 1', 27],
    ['console', 'if (/"/.test(qname)) ; console.log("")', 23],
    ['Intl', 'Intl?.Collator', 0],
    ['crypto', 'let i = 0; i++ / 2; crypto.randomUUID() / 3', 20],
  ])('%s in %s', (name, body, character) => {
    expect(scriptAbsences(body)).toEqual([{ name, character, advice: absentFromScripts.get(name) }])
    const { outcome, named } = run(body)
    expect(outcome === ScriptOutcome.Exception || named.length === 0, body).toBe(true)
  })

  test('each name once, in the order of the script', () => {
    expect(found('crypto.x(); Intl.x(); crypto.y()')).toEqual(['crypto', 'Intl'])
  })
})

describe('a script that runs is left alone', () => {
  test.each([
    ['its own constant', 'const URL = qname; result = URL ? ["192.0.2.1"] : []'],
    ['its own of a pattern', 'const { File, a: [self] } = { File: 1, a: [2] }; File + self'],
    ['its own parameter', 'result = candidates.map((Event) => Event.ip)'],
    ['a parameter without brackets', 'result = candidates.map(self => self.ip)'],
    ['its own function', 'function fetch(c) { return c.ip }\nresult = candidates.map(fetch)'],
    ['its own class', 'class Request { get ip() { return 1 } }; new Request().ip'],
    ['a global that it makes', 'global = 1; global + 1'],
    ['a loop over its own', 'for (const File of candidates) File.ip; for (window in {}) window'],
    ['what is caught', 'try { null.x } catch (ErrorEvent) { ErrorEvent.message }'],
    ['a property', 'client.process = { URL: 1 }; client.process.URL; candidates[0].window'],
    [
      'a method of its own',
      'const o = { fetch(c) { return c }, toHex: (c) => c }; o.fetch(o.toHex(1))',
    ],
    ['a method of a class', 'class A { toHex() { return 1 } static fetch() {} }; new A().toHex()'],
    ['a careful question', 'typeof Intl === "undefined" ? 1 : Intl.Collator()'],
    ['a careful call', 'Array.fromAsync?.([]); globalThis.Intl?.x(); if (globalThis.Intl) 1'],
    ['one that it brings', 'Array.fromAsync ??= Array.from; Array.fromAsync([])'],
    ['a text', 'result = ["Intl", \'fetch(1)\', `console ${"process"}`]'],
    ['a comment', '// Intl.x\n/* fetch() */ result = []'],
    ['a regular expression', 'if (true) /console["/]fetch/.test(qname)'],
    ['one behind a brace', 'if (true) {}\n/process"/.test(qname)'],
    ['the statement with', 'with ({ URL: 1 }) { URL + 1 }'],
  ])('%s', (_, body) => {
    expect(found(body)).toEqual([])
    expect(run(body).outcome).toBe(ScriptOutcome.Done)
  })
})

test('any text at all is cut in bounded time, and each token is where it says', () => {
  const signs = fc.constantFrom(
    ...'`${}()[]/\\\'"*\n=.?+-aI0 ',
    '//',
    '/*',
    'Intl',
    'return ',
    '\u2028',
  )
  fc.assert(
    fc.property(fc.array(signs, { maxLength: 60 }), (parts) => {
      const body = parts.join('')
      let last = -1
      for (const { at, text, isWord } of scriptTokens(body)) {
        expect(at).toBeGreaterThanOrEqual(last)
        last = at
        if (isWord) expect(body.startsWith(text, at)).toBe(true)
      }
      scriptAbsences(body)
    }),
    { seed: 30, numRuns: 500 },
  )
  for (const part of ['`${', '(', '/*', '"\\', "'", '/[', 'Intl.', 'typeof ', '{a:']) {
    expect(scriptAbsences(part.repeat(100_000)).length).toBeLessThan(2)
  }
})
