import { expect, test } from 'vitest'
import { createApp } from '#api/server/app.ts'
import { repeatedKeyIn } from '#http/repeated-key.ts'
import { devMode, portsOf } from '../../support/api-ports.ts'

const many = Array.from({ length: 40 }, (_, i) => `"k${i}":${i}`).join()

const rows: readonly [json: string, place: string | undefined][] = [
  ['{"name":"a","port":1,"name":"a"}', 'name'],
  ['{"name" : "a",\n\t"name" :"b"}', 'name'],
  ['{"a":1,"\\u0061":2}', 'a'],
  ['{"a\\"b":1,"a\\u0022b":2}', 'a"b'],
  ['{"":1,"":2}', ''],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ['{"spec":{"members":[{"a":1},{"b":[],"b":2}]}}', 'spec.members.1.b'],
  ['[[1,2],{"a":{"x":1},"a":2}]', '1.a'],
  [`{${many},"k3":0}`, 'k3'],
  [`{${many},"k39":0}`, 'k39'],
  [`{${many}}`, undefined],
  ['{"a":{"a":{"a":["a",{"a":"a"}]}},"b":{"a":1}}', undefined],
  ['[{"a":1},{"a":1}]', undefined],
  ['{"a":"a","b":"a","c":["a","a"]}', undefined],
  ['{"a":"\\\\","b":"\\"a\\":1","c":"}{,"}', undefined],
  ['{"a":1,"A":1,"a ":1}', undefined],
  ['"a"', undefined],
  ['1', undefined],
  ['[]', undefined],
]
test.each(rows)('in %s the key at %j stands twice', (json, place) => {
  expect(repeatedKeyIn(json)).toBe(place)
})

test('objects and arrays may be nested deeper than the stack', () => {
  const deep = (inside: string) => `${'[{"a":'.repeat(9_000)}${inside}${'}]'.repeat(9_000)}`
  expect(repeatedKeyIn(deep('1'))).toBeUndefined()
  expect(repeatedKeyIn(deep('{"b":1,"b":1}'))).toMatch(/^(0\.a\.)+b$/)
})

test('a body with one key twice is 400 and names it', async () => {
  const app = createApp(portsOf({ auth: devMode }), [])
  const post = async (payload: string) => {
    const headers = { 'content-type': 'application/json' }
    const url = '/api/v1/auth/login'
    const answer = await app.inject({ method: 'POST', url, headers, payload })
    return [answer.statusCode, (JSON.parse(answer.payload) as { error: string }).error]
  }
  const login = '"email":"ann@example.com","password":"x"'
  expect(await post(`{${login},"email":"bob@example.com"}`)).toEqual([
    400,
    'email: is given twice; leave one out',
  ])
  expect(await post(`{${login},"${'k'.repeat(999)}":{"x":1,"x":2}}`)).toEqual([
    400,
    `${'k'.repeat(200)}: is given twice; leave one out`,
  ])
  await app.close()
})
