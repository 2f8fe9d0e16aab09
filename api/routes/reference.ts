// /, /api/v1/openapi.json and /api/v1/docs: what this API is, for people and for programs.
import { Type } from 'typebox'
import { openApiOf } from '../reference/openapi.ts'
import { pageOf, pagePolicy } from '../reference/page.ts'
import { success } from '#api/http/reply.ts'
import { route } from '#api/http/route.ts'
import type { Route } from '#api/http/route.ts'

const tag = 'Reference'

export const referencePath = '/api/v1/docs'

/** @param table all routes, these two among them; asked when the first request comes */
export function referenceRoutes(table: () => readonly Route[]): readonly Route[] {
  let document: string | undefined
  let page: string | undefined
  return [
    route({
      method: 'GET',
      path: '/',
      needs: 'public',
      withoutConfig: true,
      tag,
      summary: 'To where people begin: the dashboard of the node, or the page of this reference',
      details: 'A login through the identity provider ends here.',
      responses: { 302: { description: 'The `Location` says where', schema: null } },
      handle: ({ ports: { homePath } }) => ({ status: 302, headers: { location: homePath } }),
    }),
    route({
      method: 'GET',
      path: '/api/v1/openapi.json',
      needs: 'public',
      withoutConfig: true,
      tag,
      summary: 'This API as an OpenAPI 3.1 document',
      responses: {
        200: {
          description: 'The document',
          schema: Type.Object({}, { additionalProperties: true }),
          contentType: 'application/json; charset=utf-8',
        },
      },
      handle: () => success((document ??= JSON.stringify(openApiOf(table())))),
    }),
    route({
      method: 'GET',
      path: referencePath,
      needs: 'public',
      withoutConfig: true,
      tag,
      summary: 'The same as a page, in which each route can be tried',
      responses: {
        200: {
          description: 'The page',
          schema: Type.String(),
          contentType: 'text/html; charset=utf-8',
        },
      },
      handle: () => success((page ??= pageOf(table())), { 'content-security-policy': pagePolicy }),
    }),
  ]
}
