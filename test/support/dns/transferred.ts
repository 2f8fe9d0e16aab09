// A zone as a server transfers it.
import { TcpClient } from './client.ts'
import type { Endpoint } from './client.ts'
import { decodeMessage, query } from './message.ts'
import type { Message } from './message.ts'
import { ZoneCopy } from './zone-copy.ts'

const soaType = 6

/** By AXFR: the second SOA ends it. */
export async function transferred(server: Endpoint, zone: string): Promise<ZoneCopy> {
  const client = await TcpClient.connect(server)
  try {
    client.send(query(`${zone} AXFR`))
    const messages: Message[] = []
    for (let soas = 0; soas < 2;) {
      const message = decodeMessage(await client.receive())
      if (message.rcode !== 0) throw new Error(`rcode ${message.rcode} for a transfer of ${zone}`)
      soas += message.answer.filter(({ type }) => type === soaType).length
      messages.push(message)
    }
    const copy = new ZoneCopy()
    copy.take(messages)
    return copy
  } finally {
    client.destroy()
  }
}
