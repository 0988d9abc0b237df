/** Cameras that a search found in the local networks, and the addresses of a camera's pictures. */
import { type Static, Type } from 'typebox';
import { nullable, text } from './constructors.js';

const FoundCameraSchema = Type.Object({
  name: text('Its name as the camera states it; empty: none.'),
  hardware: text('Its model; empty: not stated.'),
  location: text('Its place; empty: not stated.'),
  addresses: Type.Array(Type.String({ format: 'uri' }), {
    description: 'Addresses of its ONVIF service that OUTBOUND_ALLOW allows.',
  }),
  refused: Type.Array(Type.String(), { description: 'Hosts that it names and that OUTBOUND_ALLOW does not allow.' }),
});
export const FoundCamerasSchema = Type.Object(
  { items: Type.Array(FoundCameraSchema) },
  { $id: 'FoundCameras', description: 'ONVIF cameras that answered a search, by name.' },
);
export type FoundCameras = Static<typeof FoundCamerasSchema>;

export const CameraAddressesSchema = Type.Object(
  {
    picture: nullable(Type.String(), 'Address of a picture by HTTP.'),
    stream: nullable(Type.String(), 'Address of a stream by RTSP.'),
  },
  { $id: 'CameraAddresses', description: "Addresses of a camera's pictures, as the camera states them." },
);
export type CameraAddresses = Static<typeof CameraAddressesSchema>;
