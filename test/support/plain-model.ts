// A bundle's model, without the compiler's other data.
import type { BundleModel, RrsetModel } from '#bundle/format/model.ts'

export function plainModel(model: BundleModel): BundleModel {
  return { ...model, rrsets: model.rrsets.map(plainRrset) }
}

const plainRrset = ({ name, zone, type, ttlSeconds, rdata }: RrsetModel): RrsetModel => ({
  name,
  zone,
  type,
  ttlSeconds,
  rdata,
})
