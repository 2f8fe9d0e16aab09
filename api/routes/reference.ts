// /, /api/v1/openapi.json and /api/v1/docs: the reference of this API, for people and for programs.
import { gzipSync } from 'node:zlib'
import { Type } from '#lib/schema/type.ts'
import { assetNames, assetOf } from '../reference/assets.ts'
import { openApiOf } from '../reference/openapi.ts'
import { pageOf, pagePolicy } from '../reference/page.ts'
import { takesCoding } from '#http/compression/accepted.ts'
import { missing, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import type { RequestFacts } from '#http/request-facts.ts'
import type { Route } from '#api/route/route.ts'

const route = routesOf({ tag: 'Reference', withoutConfig: true })

export const referencePath = '/api/v1/docs'

/** @param others all other routes; the document is made at the first request */
export function referenceRoutes(others: readonly Route[]): readonly Route[] {
  let document: ReferenceDocument | undefined
  const own: readonly Route[] = [
    route('GET /', {
      needs: 'public',
      summary: 'To where people begin: the dashboard of the node, or the page of this reference',
      details: 'A login through the identity provider ends here.',
      responses: { 302: { description: 'The `Location` says where', schema: null } },
      ports: ['homePath'],
      handle: ({ ports: { homePath } }) => ({ status: 302, headers: { location: homePath } }),
    }),
    route('GET /api/v1/openapi.json', {
      needs: 'public',
      summary: 'This API as an OpenAPI 3.1 document',
      responses: {
        200: {
          description: 'The document',
          schema: Type.Object({}, { additionalProperties: true }),
          contentType: 'application/json; charset=utf-8',
        },
      },
      handle: ({ request }) =>
        sendDocument((document ??= documentOf([...others, ...own])), request),
    }),
    route(`GET ${referencePath}`, {
      needs: 'public',
      summary: 'The same as a page, in which each route can be tried',
      responses: {
        200: {
          description: 'The page',
          schema: Type.String(),
          contentType: 'text/html; charset=utf-8',
        },
      },
      handle: () => success(pageOf(`${referencePath}/`), { 'content-security-policy': pagePolicy }),
    }),
    route(`GET ${referencePath}/{file}`, {
      needs: 'public',
      summary: 'A file of that page',
      params: Type.Object({ file: Type.String({ maxLength: 255, examples: [...assetNames] }) }),
      responses: {
        200: { description: 'The file', schema: Type.String(), contentType: 'text/plain' },
        304: { description: 'It is as before: its `ETag` is in `If-None-Match`', schema: null },
      },
      handle: ({ params, request }) => fileOf(params.file, request.header('if-none-match')),
    }),
  ]
  return own
}

/** The document of the API in the form in which it is sent, made once. */
interface ReferenceDocument {
  readonly text: string
  readonly zipped: Buffer
}

function documentOf(table: readonly Route[]): ReferenceDocument {
  const text = JSON.stringify(openApiOf(table))
  return { text, zipped: gzipSync(text) }
}

function sendDocument({ text, zipped }: ReferenceDocument, request: RequestFacts): Reply {
  const vary = 'Accept-Encoding'
  const takesGzip = takesCoding(request.header('accept-encoding'), 'gzip')
  return takesGzip ? success(zipped, { vary, 'content-encoding': 'gzip' }) : success(text, { vary })
}

async function fileOf(name: string, known: string | undefined): Promise<Reply> {
  const asset = await assetOf(name)
  if (asset === undefined) return missing('file of the reference')
  const { type, bytes, etag } = asset
  // Revalidated at each request, and sent only when it changed.
  const headers = { 'cache-control': 'no-cache', etag }
  if (known === etag) return { status: 304, headers }
  return success(bytes, { ...headers, 'content-type': type })
}
