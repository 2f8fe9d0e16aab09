// Tests which encoded objects the view of the configuration decodes, and when.
import { expect, test } from 'vitest'
import { encodeObjects } from '#config/kept-objects.ts'
import { LiveConfigView, noConfig } from '#config/view.ts'
import type { ConfigChange } from '#config/view.ts'
import { kindNames } from '#schemas/kinds.ts'
import type { ObjectOf } from '#schemas/kinds.ts'

const tenant: ObjectOf['Tenant'] = {
  ...{ apiVersion: 'gslb/v1', kind: 'Tenant', metadata: { name: 't' } },
  spec: { rpsLimit: 1 },
}
const files = [
  { path: 'tenants/t/tenant.yaml', blobId: 'a', kind: 'Tenant', object: tenant } as const,
]
const first = { isWhole: true, revision: 'c', changed: [], removed: [] } as const

test('a kind of the first commit is decoded on demand', () => {
  const objects = encodeObjects(files, 1e6)!
  const view = new LiveConfigView()
  view.apply(noConfig)
  const changes: ConfigChange[] = []
  view.onChange((change) => changes.push(change))
  const length = new DataView(objects.buffer).getUint32(4 * kindNames.indexOf('Tenant'), true)
  const list = objects.slice(-length)
  objects.fill(0, -length)
  view.apply({ ...first, objects })
  expect(changes).toMatchObject([{ before: { revision: '' }, after: { revision: 'c' } }])
  // What could not be read now was not read.
  objects.set(list, objects.length - length)
  expect(changes[0]?.created.map(({ name }) => name)).toEqual(['t'])
  expect(view.snapshot().list('Tenant')).toEqual(changes[0]?.created)
})
