// The schemas of routes are compiled at their first use: here all of them are.
import fastJsonStringify from 'fast-json-stringify'
import { expect, test } from 'vitest'
import { createCheck } from '#http/validation.ts'
import { routes } from '#api/routes.ts'

test('every schema of the table of routes can be compiled', () => {
  const broken: string[] = []
  for (const { method, path, body, params, query, responses } of routes) {
    const tryTo = (part: string, compile: () => unknown): void => {
      try {
        compile()
      } catch (error) {
        broken.push(`${method} ${path} ${part}: ${String(error)}`)
      }
    }
    if (body !== undefined) tryTo('body', () => createCheck(body, 'body')({}))
    if (params !== undefined) tryTo('params', () => createCheck(params, 'params')({}))
    if (query !== undefined) tryTo('query', () => createCheck(query, 'query')({}))
    for (const [status, { schema, contentType }] of Object.entries(responses)) {
      if (schema === null || contentType !== undefined) continue
      tryTo(status, () => fastJsonStringify(schema as object))
    }
  }
  expect(broken).toEqual([])
})
