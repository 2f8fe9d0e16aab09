// Tables of databases that are replaced again and again: threads let go of those before.
import { expect, test } from 'vitest'
import { buildRangeTable } from '#routing/tables/range-table.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { answerOf, askGeneration, generation, publish } from '#test/support/node-under-test.ts'
import { startedNode } from '#test/support/started-node.ts'

const key = newSigningKey()
const mebibyte = 2 ** 20
const tableBytes = 16 * mebibyte
const reloads = 16

function tables(fill: number): GeoBuffers {
  const text = new SharedArrayBuffer(tableBytes)
  new Uint8Array(text).fill(fill)
  const asn = {
    ranges: buildRangeTable([], []),
    asnNumber: new SharedArrayBuffer(4),
    organisationOffset: new SharedArrayBuffer(8),
    organisationText: text,
  }
  return { ...noGeoBuffers, asn }
}

const patient = { timeout: 480_000 }

test.each([0, 2])('replaced tables take no memory, with %i threads', patient, async (threads) => {
  let reload = (buffers: GeoBuffers): void => void buffers
  const geo = { onChange: (handler: typeof reload) => void (reload = handler) }
  const { node, port } = await startedNode({ trusted: key, threads, geo })
  await node.activate(publish(key, generation(1), { seq: 1 }))
  const residentMebibytes = (): number => Math.round(process.memoryUsage().rss / mebibyte)
  const before = residentMebibytes()
  for (let i = 0; i < reloads; i++) {
    reload(tables(i))
    expect(await askGeneration(port)).toBe(answerOf(1))
  }
  // Two states, the one that is just being made, and what the allocator does not give back.
  expect(residentMebibytes() - before).toBeLessThan(((reloads / 2) * tableBytes) / mebibyte)
})
