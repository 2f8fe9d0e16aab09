// A foreign source of bundles: a newer number and a bundle, signed with its own key.
// node hostile-source.ts HOST PORT
import { createServer } from 'node:http'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { pathOf, recordPath, signedBundle, signedRecord } from '#test/support/bundle-source.ts'

const [host = '', port = ''] = process.argv.slice(2)
const key = newSigningKey()
const { bytes, digest } = signedBundle(key, 7)
const record = JSON.stringify(signedRecord(key, { digest, seq: 1_000_000 }))

createServer((request, response) => {
  const path = (request.url ?? '').split('?', 1)[0]
  if (path === recordPath) return response.end(record)
  if (path === pathOf(digest)) return response.end(bytes)
  response.statusCode = 404
  return response.end()
}).listen(Number(port), host)
