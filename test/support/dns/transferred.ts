// A zone as a server transfers it, whole or by its changes.
import { TcpClient } from './client.ts'
import type { Endpoint } from './client.ts'
import { decodeMessage, query } from './message.ts'
import type { Message } from './message.ts'
import { a } from './record.ts'
import { serialOfSoa, ZoneCopy } from './zone-copy.ts'

/** All messages of an AXFR. */
export async function transferred(server: Endpoint, zone: string): Promise<ZoneCopy> {
  const copy = new ZoneCopy()
  copy.take(await messagesOf(server, query(`${zone} AXFR`), 2))
  return copy
}

/** All messages of an IXFR, whose last record is the fourth SOA. */
export async function changesSince(
  server: Endpoint,
  zone: string,
  serial: number,
): Promise<readonly Message[]> {
  const authority = [a(`${zone} 0 IN SOA . . ${serial} 0 0 0 0`)]
  return await messagesOf(server, query(`${zone} IXFR`, { authority }), 4)
}

const soaType = 6

async function messagesOf(
  server: Endpoint,
  message: Buffer,
  soasMax: number,
): Promise<readonly Message[]> {
  const client = await TcpClient.connect(server)
  try {
    client.send(message)
    const messages: Message[] = []
    const serials: number[] = []
    while (serials.length < soasMax) {
      const reply = decodeMessage(await client.receive())
      messages.push(reply)
      if (reply.rcode !== 0) throw new Error(`rcode ${reply.rcode}`)
      serials.push(...reply.answer.filter(({ type }) => type === soaType).map(serialOfSoa))
      // One alone: nothing is newer. Two of one serial: a whole zone.
      const isWhole = serials.length === 2 && serials[0] === serials[1]
      if (reply.answer.length === 1 || isWhole) break
    }
    return messages
  } finally {
    client.destroy()
  }
}
