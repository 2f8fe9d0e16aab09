// A plain web server over a directory written by `gslbd publish`, which counts the octets it sends.
import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

interface TreeServer {
  readonly url: string
  /** Octets of bodies by kind, since the last call. */
  readonly sent: () => { readonly deltas: number; readonly bundles: number }
  readonly close: () => Promise<void>
}

export async function serveTree(directory: string): Promise<TreeServer> {
  const zero = { deltas: 0, bundles: 0 }
  let sent = { ...zero }
  const server = createServer(({ url = '' }, response) => {
    const path = url.split('?', 1)[0] ?? ''
    const file = join(directory, path)
    const bytes = statSync(file, { throwIfNoEntry: false })?.size
    if (bytes === undefined) return void response.writeHead(404).end()
    if (path.startsWith('/bundles/deltas/')) sent.deltas += bytes
    else if (!path.startsWith('/bundles/channels/')) sent.bundles += bytes
    response.setHeader('content-length', bytes)
    createReadStream(file).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    sent: () => {
      const counted = sent
      sent = { ...zero }
      return counted
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
