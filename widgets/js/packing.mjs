// How many packets GRO packs into one: the arithmetic of sim/packing.py once more, for pages without Python. A test
// holds the two equal over the whole range. sizes: the constants of that module, as the widget's trait has them.

export function pack({ mtu, ip, timestamps, gro_max_size, max_skb_frags }, sizes) {
  const headers = sizes.ip[ip] + sizes.tcp + (timestamps ? sizes.timestamps : 0);
  const payload = mtu - headers;
  const room = gro_max_size - 1 - headers;
  const segments = Math.max(1, Math.floor(room / payload));
  const fragments = Math.ceil(payload / sizes.page);
  const each = Math.floor(max_skb_frags / fragments);
  const skbs = Array(Math.floor(segments / each)).fill(each);
  if (segments % each) skbs.push(segments % each);
  const data = segments * payload;
  return {
    headers_bytes: headers,
    payload_bytes: payload,
    segments,
    data_bytes: data,
    length_bytes: data + headers,
    spare_bytes: room - data,
    fragments_per_segment: fragments,
    sk_buffs: skbs,
  };
}

export const filled = (packet) => (100 * packet.length_bytes) / (packet.length_bytes + packet.spare_bytes);

// For each number of segments the largest MTU at which so many fit, largest MTU first: [segments, mtu].
export function sweetSpots({ ip, timestamps, gro_max_size }, sizes) {
  const headers = sizes.ip[ip] + sizes.tcp + (timestamps ? sizes.timestamps : 0);
  const room = gro_max_size - 1 - headers;
  const [low, high] = sizes.mtu;
  const out = [];
  for (let segments = 1; segments <= Math.floor(room / (low - headers)); segments++) {
    const mtu = Math.floor(room / segments) + headers;
    if (mtu >= low && mtu <= high && Math.floor(room / (mtu - headers)) === segments) out.push([segments, mtu]);
  }
  return out;
}
