// What a bundle is made of, without what the compiler knows besides.
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
